import { access, realpath } from 'node:fs/promises'
import { basename, dirname, join, normalize, sep } from 'node:path'
import type { PlacedManifest } from '../../../shared/workspace.ts'

export type Env = Record<string, string>

/** The programs that run a workspace's tests, as the person has them. */
export type Toolchain = {
  /** Folders of programs that come before the person's PATH. */
  folders: string[]
  env: Env
  /** Files and folders beside the system's own that the programs need, at their own paths. */
  places: string[]
}

export type ToolchainRequest = {
  /** The base of the run: what it says is read, nothing in it is run. */
  base: string
  manifest: PlacedManifest
  /** PATH of the person who asked. */
  pathEnv: string
  /** The range of Node versions that the workspace allows, if it says so. */
  nodeRange: string | null
  /** Folders that hold more than programs: never shown to tests, nor is a folder above one. */
  guarded: readonly string[]
  /** Where tests will find Go's build cache. */
  goCache: string
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

/** True for what every sandbox shows. */
export function isSystemPath(path: string): boolean {
  return SYSTEM.some((folder) => isBelow(path, folder))
}

export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** True for the root, for a guarded folder and for one that holds it, by whatever path. */
export async function isTooWide(path: string, guarded: readonly string[]): Promise<boolean> {
  const [real, ...folders] = await Promise.all([path, ...guarded].map(realPathOf))
  const holds = (place: string) =>
    dirname(place) === place || [...guarded, ...folders].some((folder) => isBelow(folder, place))
  return holds(normalize(path)) || holds(real ?? path)
}

/** What of a prefix holds programs and libraries: `~/.local` holds the person's data besides. */
export function partsOf(prefix: string): string[] {
  if (basename(prefix) !== '.local') return [prefix]
  return ['bin', 'include', 'lib'].map((part) => join(prefix, part))
}

/** Without the links of a path; one that is not there is itself. */
export const realPathOf = (path: string) => realpath(path).catch(() => path)

/** Those that are there and that no sandbox shows by itself, each once. */
export async function presentPlaces(places: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(places)].filter((place) => !isSystemPath(place))
  const present = await Promise.all(wanted.map(exists))
  return wanted.filter((_, index) => present[index])
}

export const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
