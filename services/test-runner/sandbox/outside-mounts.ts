import { lstat, readdir } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { exists, isBelow, isSystemPath, isTooWide, realPathOf } from '../toolchains/toolchain.ts'
import type { Mount } from './sandbox.ts'
import { withoutSecrets } from './without-secrets.ts'

/**
 * What packages of a workspace's `node_modules` need from outside of it: the folder that a linked
 * package lies in (pnpm, npm link, a monorepo's neighbours), and the `node_modules` of the folders
 * above (hoisting). Only what looks like a package is shown, and nothing over the copy.
 */
export async function outsideMounts(
  workspace: string,
  outside: readonly string[],
  guarded: readonly string[],
): Promise<Mount[]> {
  const above = await hoistedFolders(workspace)
  const neighbours = (await Promise.all(above.map(linkedFrom))).flat()
  const roots = await Promise.all([...outside, ...neighbours].map(packageRoot))
  const away = [...new Set(roots)].filter(
    (root) => root !== null && !isBelow(root, workspace) && !above.includes(root),
  ) as string[]
  const modules = away.filter(isModules)
  const packages = away.filter((root) => !isModules(root))
  const places = [
    ...(await notTooWide([...modules, ...above], guarded)),
    ...(await withoutSecrets(packages, guarded)),
  ]
  return places.map((place) => ({ source: place, target: place }))
}

/** The `node_modules` of the folders above a workspace, the nearest first. */
export async function hoistedFolders(workspace: string): Promise<string[]> {
  const found: string[] = []
  for (let folder = dirname(workspace); folder !== dirname(folder); folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules')
    const stats = await lstat(candidate).catch(() => null)
    if (stats?.isDirectory()) found.push(candidate)
  }
  return found
}

/** Where the links of a `node_modules` lead to, outside of it. */
async function linkedFrom(modules: string): Promise<string[]> {
  const entries = await readdir(modules, { withFileTypes: true }).catch(() => [])
  const scopes = entries.filter((entry) => entry.isDirectory() && entry.name.startsWith('@'))
  const scoped = scopes.map((scope) =>
    readdir(join(modules, scope.name), { withFileTypes: true }).catch(() => []),
  )
  const links = [...entries, ...(await Promise.all(scoped)).flat()].filter((entry) =>
    entry.isSymbolicLink(),
  )
  const real = await Promise.all(links.map((link) => realPathOf(join(link.parentPath, link.name))))
  return real.filter((path) => !isBelow(path, modules))
}

const isModules = (folder: string) => folder.endsWith(`${sep}node_modules`)

async function packageRoot(folder: string): Promise<string | null> {
  const parts = folder.split(sep)
  const top = parts.indexOf('node_modules')
  if (top >= 0) return parts.slice(0, top + 1).join(sep)
  return (await exists(join(folder, 'package.json'))) ? folder : null
}

async function notTooWide(places: readonly string[], guarded: readonly string[]) {
  const tooWide = await Promise.all(places.map((place) => isTooWide(place, guarded)))
  return places.filter((place, index) => !tooWide[index] && !isSystemPath(place))
}
