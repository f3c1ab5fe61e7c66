import { access, chmod, constants, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Finding } from './check.ts'

const ALL = 0o7777
const OTHERS = 0o077
/** Where we write and read; what is below `runs` belongs to its runs. */
const FOLDERS = [
  '',
  ...['dashboard', 'keys', 'keys/trusted', 'ledger', 'logs', 'memory'],
  ...['redis', 'redis/appendonlydir', 'run', 'runs'],
]
/** What nobody else may read, wherever the folder is copied to. */
const SECRETS = new Set(['keys/signing.pem', 'dashboard/token', '.env'])

type Wrong = { path: string; mode: number; isLocked: boolean }

/** Whether we may read and write what is ours, and others may not read it; null: all is well. */
export async function examineRights(home: string): Promise<Finding | null> {
  const wrong: Wrong[] = []
  const foreign: string[] = []
  for (const folder of FOLDERS) {
    for (const name of await namesIn(home, folder)) {
      const problem = await problemOf(home, name)
      if (typeof problem === 'string') foreign.push(problem)
      else if (problem) wrong.push(problem)
    }
  }
  if (foreign.length > 0) return foreignFinding(home, foreign)
  return wrong.length === 0 ? null : wrongFinding(wrong)
}

/** A path: it is another's and closed to us. */
async function problemOf(home: string, name: string): Promise<Wrong | string | null> {
  const path = join(home, name)
  const stats = await lstat(path).catch(() => null)
  if (!stats || stats.isSymbolicLink()) return null
  // Another's, such as a volume's, may be open to us; its rights are not ours to change.
  if (isForeign(stats.uid)) return (await isOpen(path)) ? null : path
  const present = stats.mode & ALL
  const mode = neededMode(name, present, stats.isDirectory())
  return mode === present ? null : { path, mode, isLocked: (~present & mode & 0o700) !== 0 }
}

/** The folder itself, and the files in it. */
async function namesIn(home: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(home, folder), { withFileTypes: true }).catch(() => [])
  const files = entries.filter((each) => each.isFile()).map((each) => join(folder, each.name))
  return [folder, ...files]
}

function neededMode(name: string, mode: number, isFolder: boolean): number {
  const ours = mode | (isFolder ? 0o700 : 0o600)
  return name === '' || SECRETS.has(name) ? ours & ~OTHERS : ours
}

/** Root may do everything anyway. */
function isForeign(uid: number): boolean {
  const me = process.getuid?.() ?? uid
  return me !== 0 && uid !== me
}

function isOpen(path: string): Promise<boolean> {
  return access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  )
}

function foreignFinding(home: string, [first, ...others]: readonly string[]): Finding {
  const belong = others.length > 0 ? ` and ${others.length} more belong` : ' belongs'
  return {
    result: 'fail',
    found: `${first}${belong} to another user`,
    advice: `take them over: sudo chown -R "$(id -un)" ${home}`,
  }
}

function wrongFinding(wrong: readonly Wrong[]): Finding {
  const does = wrong.map(({ path, mode }) => `chmod ${mode.toString(8)} ${path}`).join(', ')
  const locked = wrong.filter(({ isLocked }) => isLocked).map(({ path }) => path)
  const open = wrong.filter(({ isLocked }) => !isLocked).map(({ path }) => path)
  const found = [
    ...(locked.length > 0 ? [`${locked.join(', ')} cannot be read or written`] : []),
    ...(open.length > 0 ? [`${open.join(', ')} can be read by others`] : []),
  ]
  return {
    result: locked.length > 0 ? 'fail' : 'warn',
    found: found.join('; '),
    advice: does,
    repair: {
      does,
      needsConsent: false,
      async run() {
        for (const { path, mode } of wrong) await chmod(path, mode)
      },
    },
  }
}
