import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const PROBE_MS = 10_000

/** The absolute path of a program on a PATH, or null. `python` is Python 3 by either name. */
export async function findProgram(name: string, path: string): Promise<string | null> {
  const [first] = await findPrograms(name, path)
  return first ?? null
}

/** All programs of a name on a PATH, in its order. */
export async function findPrograms(name: string, path: string): Promise<string[]> {
  const names = name === 'python' ? ['python3', 'python'] : [name]
  const files = path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => names.map((each) => join(folder, each)))
  const found = await Promise.all(files.map(isExecutable))
  return files.filter((_, index) => found[index])
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

/**
 * What a program of the person's says about itself, or null when it fails. It runs outside any
 * sandbox: at the file system's root, where no file of a workspace can be taken for a module or a
 * version file, and with nothing of this process's environment that could be a secret.
 */
export async function probe(
  program: string,
  args: string[],
  env: Record<string, string>,
): Promise<string | null> {
  try {
    const { stdout } = await run(program, args, {
      env: { HOME: homedir(), ...env },
      cwd: '/',
      timeout: PROBE_MS,
      killSignal: 'SIGKILL',
    })
    return stdout.trim()
  } catch {
    return null
  }
}
