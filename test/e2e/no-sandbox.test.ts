import { type ExecFileException, execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import { holdSupervisor } from '../../shared/supervisor-client.ts'
import { type Astra, type CliResult, createAstra } from '../support/astra.ts'

let astra: Astra
let folder: string
let workspace: string

beforeEach(async () => {
  astra = await createAstra()
  folder = await mkdtemp(join(tmpdir(), 'astra-nosandbox-'))
  workspace = join(folder, 'shop')
  await mkdir(workspace)
  await writeFile(join(workspace, 'package.json'), '{"type": "module"}')
  await writeFile(join(workspace, 'age.js'), 'export const isGrownUp = (age) => age > 18\n')
  await writeFile(
    join(workspace, 'age.test.js'),
    "import assert from 'node:assert'\nimport test from 'node:test'\nimport { isGrownUp } from './age.js'\ntest('eighteen', () => assert.equal(isGrownUp(18), true))\n",
  )
})
afterEach(async () => {
  await astra.remove()
  await rm(folder, { recursive: true, force: true })
})

/** Runs the CLI where bubblewrap is not installed: its program is hidden by an empty file. */
function withoutBubblewrap(...args: string[]): Promise<CliResult> {
  const hidden = ['--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap']
  const cli = join(productRoot, 'services/cli/main.ts')
  return new Promise((resolve) => {
    const command = [...hidden, process.execPath, cli, ...args]
    execFile(
      'bwrap',
      command,
      { env: astra.env },
      (error: ExecFileException | null, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
}

describe('without a sandbox', () => {
  it('no test runs: the run ends with what to install', async () => {
    const { code, stdout } = await withoutBubblewrap('fix', workspace, '--offline', '--json')
    const view: RunView = JSON.parse(stdout)
    expect(view).toMatchObject({ status: 'failed', reason: 'no_sandbox', requests: 0 })
    expect(view.message).toMatch(/bubblewrap.*apt-get install bubblewrap.*--unsafe-no-sandbox/)
    expect(code).toBe(8)
  })

  it('doctor says so and fails', async () => {
    const { code, stdout } = await withoutBubblewrap('doctor')
    expect(stdout).toMatch(/fail {2}sandbox +no test will run\n.*apt-get install bubblewrap/)
    expect(code).toBe(1)
  })

  it('a workspace or a variable cannot do without it', async () => {
    await writeFile(join(workspace, '.astra.json'), '{"sandbox": false}')
    await writeFile(join(workspace, '.env'), 'ASTRA_UNSAFE_NO_SANDBOX=1\n')
    const { stdout } = await withoutBubblewrap('fix', workspace, '--offline', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', reason: 'no_sandbox' })
  })

  it('services that a person started with --unsafe-no-sandbox run tests, and receipts say so', async () => {
    const lease = await holdSupervisor(astra.config, { env: astra.env, unsafeNoSandbox: true })
    try {
      const fixed = await astra.cli(['fix', workspace, '--offline', '--json'])
      const view: RunView = JSON.parse(fixed.stdout)
      expect(view.status).toBe('fixed')
      const transcript = await readFile(
        join(astra.home, 'runs', view.run_id, 'transcript.jsonl'),
        'utf8',
      )
      expect(transcript).toContain('"sandboxed":false')
      const doctor = await astra.cli(['doctor'])
      expect(doctor.stdout).toContain('were started with --unsafe-no-sandbox')
    } finally {
      await lease.release()
    }
  })

  it('services that run with one are not taken for services without', async () => {
    const lease = await astra.hold()
    try {
      const { code, stderr } = await astra.cli(['up', '--unsafe-no-sandbox'])
      expect(stderr).toContain('the services run already, with a sandbox')
      expect(code).toBe(2)
    } finally {
      await lease.release()
    }
  })
})
