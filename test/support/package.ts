import { spawn } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { findPrograms, probe } from '../../services/test-runner/run/programs.ts'
import { userPath } from '../../shared/user-path.ts'
import type { CliResult } from './cli.ts'

type Env = Record<string, string | undefined>

/** Who installs the package: Node 24 in `folder`, a home below it, nothing of the clone on the PATH. */
export async function createPerson(folder: string) {
  await symlink(process.execPath, join(folder, 'node'))
  const PATH = [folder, userPath(process.env)].join(delimiter)
  const own: Env = { PATH, HOME: join(folder, 'home'), NO_COLOR: '1' }
  return {
    env: own,
    /** With npm's settings of who runs the tests: where its cache and its registry are. */
    npm: (args: string[], options: Options) =>
      runProgram('npm', args, {
        ...options,
        env: { ...process.env, PATH, ONNXRUNTIME_NODE_INSTALL: undefined },
      }),
    run: (program: string, args: string[], options: Options) =>
      runProgram(program, args, { ...options, env: own }),
  }
}

type Options = { cwd: string; limitMs: number }

/** The code is null when the program was ended at its limit. */
function runProgram(
  program: string,
  args: string[],
  { cwd, env, limitMs }: Options & { env: Env },
): Promise<CliResult> {
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
  })
  const said: CliResult = { code: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    said.stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    said.stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ ...said, code }))
  })
}

/** A Node on the tester's PATH that is too old for the product, or null. */
export async function oldNode(): Promise<string | null> {
  for (const program of await findPrograms('node', userPath(process.env))) {
    const version = await probe(program, ['--version'], {})
    if (version && Number(/^v(\d+)/.exec(version)?.[1]) < 24) return program
  }
  return null
}
