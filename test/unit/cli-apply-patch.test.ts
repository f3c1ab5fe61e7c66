import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ApplyResult, applyPatch } from '../../services/cli/patch/apply-patch.ts'
import { putBack } from '../../services/cli/patch/replace-file.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { Patch } from '../../shared/contracts/patch.ts'
import { startSwapper } from '../support/swapper.ts'

/** Where there is such a place: each file that is written is flushed. */
const inMemory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const applyPatchModule = join(import.meta.dirname, '../../services/cli/patch/apply-patch.ts')

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

it.runIf(process.getuid?.() === 0)('leaves a file to its owner when root applies', async () => {
  chownSync(join(workspace, 'src/a.js'), 1234, 2345)
  await applyPatch(workspace, patch)
  const { uid, gid } = statSync(join(workspace, 'src/a.js'))
  expect([read('src/a.js'), uid, gid]).toEqual(['new a', 1234, 2345])
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

it('says what is in already when it cannot complete what was cut off', async () => {
  writeFileSync(join(workspace, 'src/a.js'), 'new a')
  writeFileSync(join(workspace, 'src/b.js'), 'edited by hand')
  const result = await applyPatch(workspace, patch)
  expect(result).toEqual({ applied: false, changed: ['src/b.js'], done: ['src/a.js'] })
  expect(read('gone.js')).toBe('old gone')
})

it('removes what a killed call left beside its files, and nothing else', async () => {
  writeFileSync(join(workspace, 'src/a.js.0123abcd.astra-tmp'), 'new a')
  writeFileSync(join(workspace, 'src/b.js.0123abcd.astra-tmp'), 'half')
  writeFileSync(join(workspace, 'src/a.js.tmp'), 'mine')
  writeFileSync(join(workspace, 'src/b.js'), 'new b')
  await applyPatch(workspace, patch)
  expect(readdirSync(join(workspace, 'src')).toSorted()).toEqual(['a.js', 'a.js.tmp', 'b.js'])
})

it('completes a call that was killed while it wrote', async () => {
  // Enough files that the kill comes long before the last of them.
  const root = mkdtempSync(join(inMemory, 'astra-killed-'))
  const names = Array.from({ length: 1_500 }, (_, i) => `${String(i).padStart(4, '0')}.js`)
  for (const name of names) writeFileSync(join(root, name), `old ${name}`)
  const files = names.map((path) => ({
    path,
    before: sha256(`old ${path}`),
    after: `new ${path}`,
  }))
  const input = join(workspace, 'patch.json')
  writeFileSync(input, JSON.stringify({ files }))
  const script = `
    import { readFileSync } from 'node:fs'
    import { applyPatch } from ${JSON.stringify(applyPatchModule)}
    await applyPatch(process.argv[1], JSON.parse(readFileSync(process.argv[2], 'utf8')))`
  const node = ['--input-type=module', '-e', script, root, input]
  const child = spawn(process.execPath, node, { stdio: 'inherit' })
  const exited = once(child, 'exit')
  const textOf = (name: string) => readFileSync(join(root, name), 'utf8')
  const watcher = watch(root, () => {
    if (textOf('0000.js') === 'new 0000.js') child.kill('SIGKILL')
  })
  expect(await exited).toEqual([null, 'SIGKILL'])
  watcher.close()
  const isNew = () => names.filter((name) => textOf(name) === `new ${name}`)
  const left = () => readdirSync(root).filter((name) => !names.includes(name))
  expect(isNew().length).toBeLessThan(names.length)
  expect(left().length).toBeGreaterThan(0)

  expect(await applyPatch(root, { files })).toEqual({ applied: true })
  expect(isNew()).toEqual(names)
  expect(left()).toEqual([])
  rmSync(root, { recursive: true })
})

it('writes nothing outside in 40,000 tries while a folder is swapped for a link', async () => {
  const top = mkdtempSync(join(inMemory, 'astra-swapped-'))
  const [root, outside] = [join(top, 'root'), join(top, 'outside')]
  const lanes = Array.from({ length: 8 }, (_, lane) => `${lane}.js`)
  for (const folder of [join(root, 'src'), outside]) {
    mkdirSync(folder, { recursive: true })
    for (const name of lanes) writeFileSync(join(folder, name), 'old')
  }
  const stateOf = (name: string) => {
    const { ino, mtimeNs } = statSync(join(outside, name), { bigint: true })
    return [name, ino, mtimeNs]
  }
  const before = lanes.map(stateOf)
  const seen = { true: 0, false: 0, fault: 0 }
  const stop = await startSwapper(join(root, 'src'), outside)
  const outcomeOf = (result: ApplyResult | null) =>
    result === null ? 'fault' : result.applied ? 'true' : 'false'
  const work = async (name: string) => {
    let [from, to] = ['old', 'new']
    for (let i = 0; i < 5_000; i += 1) {
      const files = [{ path: `src/${name}`, before: sha256(from), after: to }]
      const result = await applyPatch(root, { files }).catch(() => null)
      seen[outcomeOf(result)] += 1
      if (result?.applied) [from, to] = [to, from]
    }
  }
  await Promise.all(lanes.map(work))
  expect((await stop()).swaps).toBeGreaterThan(1_000)
  expect(Math.min(seen.true, seen.false, seen.fault)).toBeGreaterThan(100)
  expect(readdirSync(outside)).toEqual(lanes)
  expect(lanes.map(stateOf)).toEqual(before)
  rmSync(top, { recursive: true })
}, 180_000)

describe('a workspace that changed since the snapshot', () => {
  it('keeps everything, and every changed file is named', async () => {
    writeFileSync(join(workspace, 'src/a.js'), 'edited by hand')
    mkdirSync(join(workspace, 'lib'))
    writeFileSync(join(workspace, 'lib/new.js'), 'mine')
    const result = await applyPatch(workspace, patch)
    expect(result).toEqual({ applied: false, changed: ['src/a.js', 'lib/new.js'], done: [] })
    expect(read('src/a.js')).toBe('edited by hand')
    expect(read('src/b.js')).toBe('old b')
    expect(read('lib/new.js')).toBe('mine')
  })

  it('is seen when a file was deleted', async () => {
    rmSync(join(workspace, 'src/a.js'))
    const result = await applyPatch(workspace, patch)
    expect(result).toEqual({ applied: false, changed: ['src/a.js'], done: [] })
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
      expect(result).toEqual({ applied: false, changed: ['src/a.js', 'src/b.js'], done: [] })
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
  const result = await applyPatch(workspace, bad)
  expect(result).toEqual({ applied: false, changed: ['gone.js/x.js'], done: [] })
  expectUntouched()
})

it('puts back what it wrote when a later file cannot be written', async () => {
  // A file named as the folder of another one: only the last rename can find that out.
  const files = [...patch.files, { path: 'lib', before: null, after: 'x' }]
  const applying = applyPatch(workspace, { files })
  await expect(applying).rejects.toThrow('nothing was applied: cannot write lib')
  expect(read('src/a.js')).toBe('old a')
  expect(read('src/b.js')).toBe('old b')
  expect(read('gone.js')).toBe('old gone')
  const left = readdirSync(workspace, { recursive: true })
  expect(left.toSorted()).toEqual(['gone.js', 'lib', 'src', 'src/a.js', 'src/b.js'])
})

it('does not put back over what somebody wrote meanwhile', async () => {
  writeFileSync(join(workspace, 'src/a.js'), 'edited by hand')
  const before = { bytes: Buffer.from('old a'), mode: 0o644, uid: 0, gid: 0 }
  const undo = putBack(workspace, ['src', 'a.js'], Buffer.from('new a'), before)
  await expect(undo).rejects.toThrow(/src\/a\.js was changed while the patch was applied/)
  expect(read('src/a.js')).toBe('edited by hand')
})
