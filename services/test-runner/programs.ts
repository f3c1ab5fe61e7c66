import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const PROBE_MS = 10_000

/** The absolute path of a program on a PATH, or null. `python` is Python 3 by either name. */
export async function findProgram(name: string, path: string): Promise<string | null> {
  const names = name === 'python' ? ['python3', 'python'] : [name]
  for (const folder of path.split(delimiter)) {
    for (const each of names) {
      const file = join(folder, each)
      if (folder !== '' && (await isExecutable(file))) return file
    }
  }
  return null
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

/** The version of the first `node` on a PATH, such as `v20.20.2`, or null. */
export async function nodeVersionOn(path: string): Promise<string | null> {
  const node = await findProgram('node', path)
  return node && probe(node, ['--version'], { PATH: path })
}

/** True when the first Python of an environment has pytest. */
export async function hasPytest(env: Record<string, string>): Promise<boolean> {
  const python = await findProgram('python', env.PATH ?? '')
  const question = 'import importlib.util as u; print(u.find_spec("pytest") is not None)'
  return python !== null && (await probe(python, ['-c', question], env)) === 'True'
}

/** Runs at the file system's root, where no file of a workspace can be taken for a module. */
async function probe(
  program: string,
  args: string[],
  env: Record<string, string>,
): Promise<string | null> {
  try {
    const { stdout } = await run(program, args, { env, cwd: '/', timeout: PROBE_MS })
    return stdout.trim()
  } catch {
    return null
  }
}
