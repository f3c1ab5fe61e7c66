import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'

const cloneMain = resolve(import.meta.dirname, '../../services/cli/main.ts')

export type CliResult = { code: number | null; stdout: string; stderr: string }

export type CliProcess = {
  kill(signal: NodeJS.Signals): void
  /** Resolves when stdout or stderr holds the text; throws when the process ended without it. */
  says(text: string): Promise<void>
  /** What stdout holds so far. */
  printed(): string
  result: Promise<CliResult>
}

type Options = {
  home: string
  cwd?: string
  env?: Record<string, string>
  /** What stands at stdin, which is closed otherwise. */
  input?: string
  /** The CLI of another installation than the clone. */
  main?: string
}

/** Runs `astra` as a process of its own, with nothing of the tester's own settings. */
export function startAstra(args: string[], options: Options): CliProcess {
  const child = spawn(process.execPath, [options.main ?? cloneMain, ...args], {
    cwd: options.cwd ?? options.home,
    stdio: ['pipe', 'pipe', 'pipe'],
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
  child.stdin.end(options.input)
  const said: CliResult = { code: null, stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    said.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.stderr += chunk
  })
  const result = new Promise<CliResult>((done, fail) => {
    child.once('error', fail)
    child.once('close', (code) => done({ ...said, code }))
  })
  return {
    kill: (signal) => child.kill(signal),
    says: (text) =>
      new Promise((done, fail) => {
        const look = () => `${said.stdout}${said.stderr}`.includes(text) && done()
        child.stdout.on('data', look)
        child.stderr.on('data', look)
        child.once('close', () => fail(new Error(`never said "${text}": ${JSON.stringify(said)}`)))
        look()
      }),
    printed: () => said.stdout,
    result,
  }
}

export function runAstra(args: string[], options: Options): Promise<CliResult> {
  return startAstra(args, options).result
}
