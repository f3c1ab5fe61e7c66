import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { applyPatch } from '../../services/cli/apply-patch.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { Patch } from '../../shared/contracts/patch.ts'

let workspace: string

beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'astra-apply-')))
  mkdirSync(join(workspace, 'src'))
  writeFileSync(join(workspace, 'src/a.js'), 'old a')
  writeFileSync(join(workspace, 'src/b.js'), 'old b')
  writeFileSync(join(workspace, 'gone.js'), 'old gone')
})
afterEach(() => rmSync(workspace, { recursive: true, force: true }))

const patch: Patch = {
  files: [
    { path: 'src/a.js', before: sha256('old a'), after: 'new a' },
    { path: 'src/b.js', before: sha256('old b'), after: 'new b' },
    { path: 'gone.js', before: sha256('old gone'), after: null },
    { path: 'lib/new.js', before: null, after: 'new file' },
  ],
}
const read = (path: string) => readFileSync(join(workspace, path), 'utf8')

function expectUntouched(): void {
  expect(read('src/b.js')).toBe('old b')
  expect(read('gone.js')).toBe('old gone')
  expect(existsSync(join(workspace, 'lib'))).toBe(false)
}

it('changes, adds and deletes, keeps modes and leaves nothing beside', async () => {
  chmodSync(join(workspace, 'src/a.js'), 0o755)
  expect(await applyPatch(workspace, patch)).toEqual({ applied: true })
  expect(read('src/a.js')).toBe('new a')
  expect(statSync(join(workspace, 'src/a.js')).mode & 0o777).toBe(0o755)
  expect(readdirSync(workspace, { recursive: true }).toSorted()).toEqual([
    'lib',
    'lib/new.js',
    'src',
    'src/a.js',
    'src/b.js',
  ])
})

it('does nothing more the second time', async () => {
  await applyPatch(workspace, patch)
  expect(await applyPatch(workspace, patch)).toEqual({ applied: true })
  expect(read('src/a.js')).toBe('new a')
})

it('completes what was cut off between two files', async () => {
  writeFileSync(join(workspace, 'src/a.js'), 'new a')
  expect(await applyPatch(workspace, patch)).toEqual({ applied: true })
  expect(read('src/b.js')).toBe('new b')
})

describe('a workspace that changed since the snapshot', () => {
  it('keeps everything, and every changed file is named', async () => {
    writeFileSync(join(workspace, 'src/a.js'), 'edited by hand')
    mkdirSync(join(workspace, 'lib'))
    writeFileSync(join(workspace, 'lib/new.js'), 'mine')
    const result = await applyPatch(workspace, patch)
    expect(result).toEqual({ applied: false, changed: ['src/a.js', 'lib/new.js'] })
    expect(read('src/a.js')).toBe('edited by hand')
    expect(read('src/b.js')).toBe('old b')
    expect(read('lib/new.js')).toBe('mine')
  })

  it('is seen when a file was deleted', async () => {
    rmSync(join(workspace, 'src/a.js'))
    expect(await applyPatch(workspace, patch)).toEqual({ applied: false, changed: ['src/a.js'] })
    expectUntouched()
  })

  it('is seen when a file or a folder became a link', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'astra-outside-'))
    try {
      writeFileSync(join(outside, 'a.js'), 'old a')
      writeFileSync(join(outside, 'b.js'), 'old b')
      rmSync(join(workspace, 'src'), { recursive: true })
      symlinkSync(outside, join(workspace, 'src'))
      const result = await applyPatch(workspace, patch)
      expect(result).toEqual({ applied: false, changed: ['src/a.js', 'src/b.js'] })
      expect(readFileSync(join(outside, 'a.js'), 'utf8')).toBe('old a')
    } finally {
      rmSync(outside, { recursive: true })
    }
  })
})

it.each(['../x.js', '/etc/x', 'a/../../x', '.git/hooks/pre-commit', 'a//b', './a'])(
  'refuses the path %s',
  async (path) => {
    const bad = { files: [{ path, before: null, after: 'x' }] }
    await expect(applyPatch(workspace, bad)).rejects.toThrow(/names a path outside/)
    expectUntouched()
  },
)

it('takes a file where a folder should be for a change', async () => {
  const bad = { files: [{ path: 'gone.js/x.js', before: null, after: 'x' }] }
  expect(await applyPatch(workspace, bad)).toEqual({ applied: false, changed: ['gone.js/x.js'] })
  expectUntouched()
})

it('puts back what it wrote when a later file cannot be written', async () => {
  // A file named as the folder of another one: only the last rename can find that out.
  const files = [...patch.files, { path: 'lib', before: null, after: 'x' }]
  await expect(applyPatch(workspace, { files })).rejects.toThrow()
  expect(read('src/a.js')).toBe('old a')
  expect(read('src/b.js')).toBe('old b')
  expect(read('gone.js')).toBe('old gone')
  const left = readdirSync(workspace, { recursive: true })
  expect(left.toSorted()).toEqual(['gone.js', 'lib', 'src', 'src/a.js', 'src/b.js'])
})
