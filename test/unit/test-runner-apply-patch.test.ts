import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { applyPatch } from '../../services/test-runner/copy/apply-patch.ts'
import { sha256 } from '../../shared/contracts/ids.ts'

let root = ''
let outside = ''

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'astra-copy-'))
  outside = await mkdtemp(join(tmpdir(), 'astra-outside-'))
  await writeFile(join(root, 'a.js'), 'old')
  await writeFile(join(outside, 'b.js'), 'theirs')
})
afterEach(async () => {
  await rm(root, { recursive: true })
  await rm(outside, { recursive: true })
})

const apply = (path: string, before: string | null, after: string | null) =>
  applyPatch(root, {
    files: [{ path, before: before === null ? null : sha256(before), after }],
  })

describe('applyPatch', () => {
  it('changes a file and keeps its mode', async () => {
    await chmod(join(root, 'a.js'), 0o755)
    await apply('a.js', 'old', 'new')
    expect(await readFile(join(root, 'a.js'), 'utf8')).toBe('new')
    expect((await stat(join(root, 'a.js'))).mode & 0o777).toBe(0o755)
  })

  it('adds a file in a new folder, and deletes one', async () => {
    await apply('src/deep/c.js', null, 'c')
    expect(await readFile(join(root, 'src/deep/c.js'), 'utf8')).toBe('c')
    await apply('a.js', 'old', null)
    await expect(readFile(join(root, 'a.js'))).rejects.toThrow('ENOENT')
  })

  it('throws when the base is another one, and leaves the file as it is', async () => {
    await expect(apply('a.js', 'older', 'new')).rejects.toThrow('the patch does not fit a.js')
    await expect(apply('a.js', null, 'new')).rejects.toThrow('does not fit')
    await expect(apply('missing.js', 'old', 'new')).rejects.toThrow('does not fit')
    expect(await readFile(join(root, 'a.js'), 'utf8')).toBe('old')
  })

  it.each(['../x', '/etc/x', 'src/../../x', 'a//b', './a.js', 'x\0y', ''])(
    'throws on a path that leaves the workspace: %j',
    async (path) => {
      await expect(apply(path, null, 'x')).rejects.toThrow('leaves the workspace')
    },
  )

  it('throws on a path through a link to a dependency, which stays as it was', async () => {
    await mkdir(join(root, 'node_modules'))
    await symlink(outside, join(root, 'node_modules', 'theirs'))
    await symlink(join(outside, 'b.js'), join(root, 'linked.js'))
    await expect(apply('node_modules/theirs/b.js', 'theirs', 'x')).rejects.toThrow('through a link')
    await expect(apply('linked.js', 'theirs', 'x')).rejects.toThrow('through a link')
    expect(await readFile(join(outside, 'b.js'), 'utf8')).toBe('theirs')
  })
})
