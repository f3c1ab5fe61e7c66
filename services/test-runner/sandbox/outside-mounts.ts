import { lstat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { exists, isSystemPath, isTooWide } from '../toolchains/toolchain.ts'
import type { Mount } from './sandbox.ts'

/**
 * What packages of a workspace's `node_modules` need from outside of it: the folder that a linked
 * package lies in (pnpm, npm link, a monorepo's neighbours), and the `node_modules` of the folders
 * above (hoisting). Only what looks like a package is shown.
 */
export async function outsideMounts(
  workspace: string,
  outside: readonly string[],
  guarded: readonly string[],
): Promise<Mount[]> {
  const linked = await Promise.all(outside.map(packageRoot))
  const places = [...linked, ...(await hoisted(workspace))].filter(
    (place) => place !== null && !isSystemPath(place) && !isTooWide(place, guarded),
  )
  return [...new Set(places as string[])].map((place) => ({ source: place, target: place }))
}

async function packageRoot(folder: string): Promise<string | null> {
  const parts = folder.split(sep)
  const top = parts.indexOf('node_modules')
  if (top >= 0) return parts.slice(0, top + 1).join(sep)
  return (await exists(join(folder, 'package.json'))) ? folder : null
}

async function hoisted(workspace: string): Promise<string[]> {
  const found: string[] = []
  for (let folder = dirname(workspace); folder !== dirname(folder); folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules')
    const stats = await lstat(candidate).catch(() => null)
    if (stats?.isDirectory()) found.push(candidate)
  }
  return found
}
