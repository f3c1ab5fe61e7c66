import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'

const main = resolve(import.meta.dirname, '../../services/cli/main.ts')

export type CliResult = { code: number | null; stdout: string; stderr: string }

/** Runs `astra` as a process of its own, in `cwd`, with nothing of the tester's own settings. */
export function runAstra(
  args: string[],
  options: { home: string; cwd?: string; env?: Record<string, string> },
): Promise<CliResult> {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: options.cwd ?? options.home,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: options.home,
      ASTRA_HOME: join(options.home, 'astra'),
      // What stands in a developer's .env must not reach a test.
      OPENAI_API_KEY: '',
      REDIS_URL: '',
      ...options.env,
    },
  })
  const result: CliResult = { code: null, stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    result.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    result.stderr += chunk
  })
  return new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', (code) => done({ ...result, code }))
  })
}
