import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunView } from '../../shared/contracts/run-view.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'

let astra: Astra
let lease: Lease
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-bad-'))
  astra = await createAstra({ ASTRA_TEST_SECONDS: '15' })
  lease = await astra.hold()
})
afterAll(async () => {
  await lease.release()
  await astra.remove()
  await rm(folder, { recursive: true, force: true })
})

async function workspaceOf(files: Record<string, string>): Promise<string> {
  const workspace = await mkdtemp(join(folder, 'workspace-'))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true })
    await writeFile(join(workspace, path), text)
  }
  return workspace
}

async function fix(workspace: string): Promise<{ view: RunView; code: number | null }> {
  const { stdout, stderr, code } = await astra.cli(['fix', workspace, '--offline', '--json'])
  if (!stdout.trim()) throw new Error(stderr)
  return { view: JSON.parse(stdout), code }
}

const nodePackage = JSON.stringify({ type: 'module', scripts: { test: 'node --test' } })
const nodeTest = (body: string) => ({
  'package.json': nodePackage,
  'a.test.js': `import test from 'node:test'\nimport assert from 'node:assert'\ntest('a', async () => {${body}})\n`,
})

describe('a workspace that cannot be repaired', () => {
  it('without tests ends as failed, no_tests_found', async () => {
    const { view, code } = await fix(await workspaceOf({ 'readme.txt': 'nothing here' }))
    expect(view).toMatchObject({ status: 'failed', reason: 'no_tests_found', requests: 0 })
    expect(view.message).toContain('.astra.json')
    expect(code).toBe(8)
  })

  it('with green tests ends as nothing_to_fix, and no model was asked', async () => {
    const { view, code } = await fix(await workspaceOf(nodeTest('assert.ok(1)')))
    expect(view).toMatchObject({ status: 'nothing_to_fix', requests: 0, cost_usd: 0 })
    expect(code).toBe(4)
  })

  it('with tests that never end is stopped at the time limit, which the message names', async () => {
    const endless = nodeTest('await new Promise((resolve) => setTimeout(resolve, 600_000))')
    const { view } = await fix(await workspaceOf(endless))
    expect(view).toMatchObject({ status: 'failed', reason: 'tests_timed_out', requests: 0 })
    expect(view.message).toContain('ASTRA_TEST_SECONDS')
  })

  it('with tests that print 100 MB is stopped at the output limit', async () => {
    const loud = nodeTest(`
      const line = 'x'.repeat(1_000_000) + '\\n'
      for (let i = 0; i < 100; i += 1) process.stdout.write(line)
      assert.fail()`)
    const { view } = await fix(await workspaceOf(loud))
    expect(view).toMatchObject({ status: 'failed', reason: 'tests_output_limit', requests: 0 })
    expect(view.message).toContain('ASTRA_TEST_OUTPUT_BYTES')
  })

  it('whose runner is not installed ends as runner_missing and says what to install', async () => {
    const vitest = await workspaceOf({
      'package.json': JSON.stringify({ devDependencies: { vitest: '5.1.2' } }),
      'a.test.js': "import { test } from 'vitest'\ntest('a', () => {})\n",
    })
    const { view } = await fix(vitest)
    expect(view).toMatchObject({ status: 'failed', reason: 'runner_missing', requests: 0 })
    expect(view.message).toMatch(/npm (ci|i)/)
  })

  it('leaves no copy and no file of its own in any of these workspaces', async () => {
    for (const workspace of await readdir(folder)) {
      const files = await readdir(join(folder, workspace))
      expect(
        files.filter((file) => !/^(readme\.txt|package\.json|a\.test\.js)$/.test(file)),
      ).toEqual([])
    }
  })
})
