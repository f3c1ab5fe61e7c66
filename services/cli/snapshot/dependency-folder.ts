import { lstat, realpath } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import { personHomes } from './person-home.ts'

/**
 * Whether a name is that of installed packages: too many to copy, needed by the tests, and not the
 * project's own code. `refused` is a link to a place that a workspace has no business to lend out.
 */
export type DependencyFolder =
  | { kind: 'no' }
  | { kind: 'folder'; target: string }
  | { kind: 'refused' }

type Places = { workspace: string; home: string }

/** What the folder or link at `path` is. `workspace` and `home` (ASTRA_HOME) are real paths. */
export async function dependencyFolder(path: string, places: Places): Promise<DependencyFolder> {
  const name = basename(path)
  if (!['node_modules', '.venv', 'venv'].includes(name)) return { kind: 'no' }
  const stats = await lstat(path).catch(() => null)
  if (stats?.isSymbolicLink()) return linkedFolder(path, places)
  if (!stats?.isDirectory()) return { kind: 'no' }
  // Any folder may be called venv; this file makes it a virtual environment.
  if (name !== 'node_modules' && !(await isFile(join(path, 'pyvenv.cfg')))) return { kind: 'no' }
  return (await isPrivate(path, places)) ? { kind: 'refused' } : { kind: 'folder', target: path }
}

/**
 * A link is an ordinary one, and left out as such, unless it leads to a folder. That folder is shown
 * to the project's tests, so its own name or contents have to say that it holds packages.
 */
async function linkedFolder(path: string, places: Places): Promise<DependencyFolder> {
  const target = await realpath(path).catch(() => null)
  if (target === null || !(await lstat(target)).isDirectory()) return { kind: 'no' }
  const packages = basename(target) === 'node_modules' || (await isVirtualEnvironment(target))
  if (!packages || (await isPrivate(target, places))) return { kind: 'refused' }
  return { kind: 'folder', target }
}

async function isVirtualEnvironment(folder: string): Promise<boolean> {
  if (!(await isFile(join(folder, 'pyvenv.cfg')))) return false
  // `python` is itself a link, mostly.
  const python = await lstat(join(folder, 'bin', 'python')).catch(() => null)
  return python !== null
}

/** The person's home, our data and the workspace itself, and every folder that holds one of them. */
async function isPrivate(target: string, { workspace, home }: Places): Promise<boolean> {
  const homes = await Promise.all(personHomes().map((path) => realpath(path).catch(() => path)))
  if ([...homes, home, workspace].some((place) => isWithin(place, target))) return true
  return isWithin(target, home) && !isWithin(target, workspace)
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

async function isFile(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null)
  return stats?.isFile() ?? false
}
