import { isAbsolute, resolve, sep } from 'node:path'
import type { PublishedRun } from './published-run.ts'
import { isInside } from './tree.ts'

/**
 * What a sandbox shows of its machine and of ours. Whatever another machine sends is shown at its own
 * path, and must not be shown in place of these.
 */
const OWN_PLACES = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'],
  ...['/etc', '/proc', '/sys', '/dev', '/run/astra', '/tmp/home'],
]

/** Why a run's paths cannot be shown to its tests on another machine, or null. */
export function runPathProblem({ workspace, dependencies }: PublishedRun): string | null {
  if (!isPlace(workspace)) return `${shown(workspace)} is a place of the system's own`
  const paths = new Set<string>()
  for (const { path, target } of dependencies) {
    if (!isInside(path) || paths.has(path)) return `${shown(path)} is no folder of the workspace`
    if (!isPlace(target)) return `${shown(target)} is a place of the system's own`
    if (isWithin(workspace, target)) return `${shown(target)} holds the workspace`
    paths.add(path)
  }
  return null
}

function isPlace(path: string): boolean {
  const isPlain = isAbsolute(path) && resolve(path) === path && !path.includes('\0')
  return isPlain && OWN_PLACES.every((own) => !isWithin(path, own) && !isWithin(own, path))
}

const isWithin = (path: string, folder: string) =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

const shown = (path: string) => JSON.stringify(path.slice(0, 200))
