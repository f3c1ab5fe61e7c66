import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, productRoot, readConfig } from '../../shared/config.ts'
import { holdSupervisor, type Lease } from '../../shared/supervisor-client.ts'

export type CliResult = { code: number | null; stdout: string; stderr: string }

/** An installation of the test's own: a temporary ASTRA_HOME with its services. */
export type Astra = {
  config: Config
  home: string
  env: Record<string, string | undefined>
  /** Runs the CLI as a person would, in `cwd`. */
  cli(args: string[], options?: { cwd?: string; signal?: AbortSignal }): Promise<CliResult>
  /** Makes the services stay up between CLI calls. */
  hold(): Promise<Lease>
  remove(): Promise<void>
}

/** `env`: settings of this installation; nothing of the person's own settings gets through. */
export async function createAstra(env: Record<string, string> = {}): Promise<Astra> {
  const home = await mkdtemp(join(tmpdir(), 'astra-test-'))
  const own = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(ASTRA|OPENAI|REDIS|VITEST|NODE_ENV)/.test(name),
    ),
  )
  const all = { ...own, ...env, ASTRA_HOME: home, NO_COLOR: '1' }
  const config = readConfig(all)
  return {
    config,
    home,
    env: all,
    cli: (args, options = {}) => runCli(args, all, options),
    hold: () => holdSupervisor(config, { env: all }),
    remove: () => rm(home, { recursive: true, force: true }),
  }
}

function runCli(
  args: string[],
  env: Record<string, string | undefined>,
  options: { cwd?: string; signal?: AbortSignal },
): Promise<CliResult> {
  const child = spawn(process.execPath, [join(productRoot, 'services/cli/main.ts'), ...args], {
    env,
    cwd: options.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  options.signal?.addEventListener('abort', () => child.kill('SIGINT'))
  const result: CliResult = { code: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    result.stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    result.stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ ...result, code }))
  })
}
