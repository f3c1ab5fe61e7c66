import { access } from 'node:fs/promises'
import { dirname, sep } from 'node:path'
import type { Manifest } from '../../../shared/contracts/manifest.ts'

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
  manifest: Manifest
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

/** True for the root, for a guarded folder and for one that holds it. */
export function isTooWide(path: string, guarded: readonly string[]): boolean {
  return dirname(path) === path || guarded.some((folder) => isBelow(folder, path))
}

export const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/** PATH without the folders of a workspace: what a repository brings is never run outside a sandbox. */
export function withoutWorkspace({ pathEnv, manifest }: ToolchainRequest): string {
  return pathEnv
    .split(':')
    .filter((folder) => folder.startsWith('/') && !isBelow(folder, manifest.workspace))
    .join(':')
}
