import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import { receiptProblem } from '../../shared/receipt.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import { DEMO_REPAIRS } from '../support/demo-repairs.ts'
import { isProcessOf } from '../support/processes.ts'

const templates = join(productRoot, 'demo_projects/templates')
const SCENARIO = 'typescript/scenario_alpha'
const repair = DEMO_REPAIRS[SCENARIO] ?? { file: '', old: '', new: '' }

let astra: Astra
let lease: Lease
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-verify-'))
  astra = await createAstra()
  lease = await astra.hold()
})
afterAll(async () => {
  await lease.release()
  await astra.remove()
  await rm(folder, { recursive: true, force: true })
})

async function workspace(): Promise<string> {
  const path = await mkdtemp(join(folder, 'workspace-'))
  await cp(join(templates, SCENARIO), path, { recursive: true })
  return path
}

/** A patch of one file, as `git diff` writes it, in a file. */
async function patchFile(path: string, file: string, edit: (text: string) => string) {
  const old = await readFile(join(path, file), 'utf8')
  const diff = createTwoFilesPatch(`a/${file}`, `b/${file}`, old, edit(old))
  const name = join(await mkdtemp(join(folder, 'patch-')), 'fix.patch')
  await writeFile(name, `diff --git a/${file} b/${file}\n${diff}`)
  return name
}

const mend = (text: string) => text.replace(repair.old, repair.new)

async function json(args: string[], code: number) {
  const result = await astra.cli([...args, '--json'])
  expect(result.code, result.stderr + result.stdout).toBe(code)
  return JSON.parse(result.stdout)
}

async function hashes(root: string): Promise<Record<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const read = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name)
    return [path.slice(root.length), sha256(await readFile(path))]
  })
  return Object.fromEntries(await Promise.all(read))
}

const runFolders = () => readdir(join(astra.home, 'runs'))

describe('the proof of a run', () => {
  it('is repeated from what was kept, and changes nothing of the run', async () => {
    const path = await workspace()
    await json(['fix', path, '--offline', '--run-id', 'fixed'], 0)
    // The workspace has the patch now, and is not what a proof is made from.
    const kept = join(astra.home, 'runs', 'fixed')
    const [files, view] = [await hashes(kept), await json(['status', 'fixed'], 0)]
    const receiptFile = join(folder, 'receipt.json')
    const result = await json(['verify', 'fixed', '--receipt', receiptFile], 0)
    expect(result).toMatchObject({
      confirmed: true,
      command: view.verification.command,
      failing_before: view.verification.failing_before,
    })
    expect(receiptProblem(result.receipt, loadTrustedKeys(astra.home))).toBeNull()
    expect(JSON.parse(await readFile(receiptFile, 'utf8'))).toEqual(result.receipt)
    const transcript = await readFile(join(kept, 'transcript.jsonl'), 'utf8')
    const own = transcript.split('\n').find((line) => line.includes('"type":"verification"'))
    const { base_tree, patch, targets } = JSON.parse(own ?? '{}').receipt.body
    expect(result.receipt.body).toMatchObject({ base_tree, patch, targets })

    expect(await hashes(kept)).toEqual(files)
    expect(await json(['status', 'fixed'], 0)).toEqual(view)
    const { runs } = await json(['runs'], 0)
    expect(runs.map((run: { run_id: string }) => run.run_id)).toEqual(['fixed'])
    expect(await runFolders()).toEqual(['fixed'])
  })

  it('is refused for a snapshot that was altered together with its list of files', async () => {
    const base = join(astra.home, 'runs', 'fixed', 'base', repair.file)
    const manifest = join(astra.home, 'runs', 'fixed', 'base.json')
    const [text, list] = [await readFile(base, 'utf8'), await readFile(manifest, 'utf8')]
    await writeFile(base, `${text}\n`)
    expect((await json(['verify', 'fixed'], 1)).error.message).toContain(
      `${repair.file} was altered`,
    )
    await writeFile(manifest, list.replace(sha256(text), sha256(`${text}\n`)))
    expect((await json(['verify', 'fixed'], 1)).error.message).toContain(
      'not the one of its receipt',
    )
    expect(await runFolders()).toEqual(['fixed'])
  })

  it('is none for an unknown run', async () => {
    expect((await json(['verify', 'nobody'], 2)).error.message).toContain('no run nobody')
  })
})

describe('a patch on a workspace', () => {
  it('is proved, and the workspace stays as it was', async () => {
    const path = await workspace()
    const before = await hashes(path)
    const patch = await patchFile(path, repair.file, mend)
    const { code, stdout } = await astra.cli(['verify', '--patch', patch, path])
    expect(stdout).toMatch(/^proved: node passed with exit code 0\n/)
    expect(stdout).toMatch(
      /failing before \(\d+\)[\s\S]*passing after[\s\S]*\nreceipt\n\{[\s\S]*"signature"/,
    )
    expect(code).toBe(0)
    expect(await hashes(path)).toEqual(before)
    expect(await runFolders()).toEqual(['fixed'])
  })

  it('that repairs nothing is refused with a reason', async () => {
    const path = await workspace()
    const patch = await patchFile(path, repair.file, (text) => `${text}// nothing\n`)
    const result = await json(['verify', '--patch', patch, '--command', 'node --test', path], 3)
    expect(result).toMatchObject({ confirmed: false, reason: 'target_not_passing' })
    const { code, stdout } = await astra.cli(['verify', '--patch', patch, path])
    expect(stdout).toContain('not proved (target_not_passing): ')
    expect(code).toBe(3)
  })

  it('that changes only a test is refused, and the test is named', async () => {
    const path = await workspace()
    const test = 'test/catalog.test.ts'
    const patch = await patchFile(path, test, () => '')
    const result = await json(['verify', '--patch', patch, path], 3)
    expect(result).toMatchObject({ reason: 'no_patch', dropped_paths: [test] })
  })

  it('in a workspace without tests is refused with what was looked for', async () => {
    const path = await mkdtemp(join(folder, 'bare-'))
    await writeFile(join(path, 'a.js'), 'a\n')
    const patch = await patchFile(path, 'a.js', () => 'b\n')
    const result = await json(['verify', '--patch', patch, path], 3)
    expect(result).toMatchObject({ reason: 'tests_unusable', failing_before: [] })
    expect(result.message).toContain('no tests')
  })

  it('leaves no process and no folder at Ctrl-C, while the services go on', async () => {
    const path = join(folder, 'lasting')
    await mkdir(path)
    const file = `lasts-${process.pid}.test.mjs`
    const lasting =
      "import test from 'node:test'\nimport './a.mjs'\n" +
      "test('a', () => new Promise(() => setInterval(() => {}, 1000)))\n"
    await writeFile(join(path, file), lasting)
    await writeFile(join(path, 'a.mjs'), '1\n')
    const patch = await patchFile(path, 'a.mjs', () => '2\n')
    const pressed = new AbortController()
    const ended = astra.cli(['verify', '--patch', patch, path], { signal: pressed.signal })
    await expect.poll(() => isProcessOf(file)).toBe(true)
    pressed.abort()
    const { code, stdout, stderr } = await ended
    expect(await isProcessOf(file)).toBe(false)
    expect(stderr).toMatch(/astra: interrupted\n +the tests were ended/)
    expect(stdout).toBe('')
    expect(code).toBe(130)
    expect(await runFolders()).toEqual(['fixed'])
    // The test-runner is still there for others.
    const again = await workspace()
    await json(['verify', '--patch', await patchFile(again, repair.file, mend), again], 0)
  })
})
