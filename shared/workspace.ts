import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  stat,
  symlink,
} from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { type Manifest, manifestSchema } from './contracts/manifest.ts'
import type { RunFiles } from './run-files.ts'

export async function readManifest(files: RunFiles): Promise<Manifest> {
  return manifestSchema.parse(JSON.parse(await readFile(files.manifest, 'utf8')))
}

/**
 * A manifest on the machine that uses it. `arrived` says that the snapshot was taken on another one:
 * its paths are none of this machine's, and its dependency folders stand elsewhere, by their numbers.
 */
export type PlacedManifest = Manifest & { arrived?: { dependencies: readonly string[] } }

/** Where the n-th dependency folder stands on this machine; tests see it at its link's target. */
export function standsAt({ links, arrived }: PlacedManifest, index: number): string | null {
  return (arrived ? arrived.dependencies[index] : links[index]?.target) ?? null
}

/** Where the processes that use a copy will find it and its dependencies. */
export type SeenAt = {
  /** The copy's root. */
  workspace: string
  /** The n-th link of the manifest; null: it will be put in its place by others. */
  dependencies(index: number): string | null
}

export type Materialised = {
  /** Folders outside the workspace's own dependency folders that links of the copy lead to. */
  outside: string[]
  /** Of all files together. */
  bytes: number
}

/**
 * Makes a fresh copy of a run's base in `target`, which must not exist or be empty. Dependency
 * folders come by reference: `node_modules` as a real folder of links, because tools write into it.
 */
export async function materialise(
  files: Pick<RunFiles, 'base'>,
  manifest: PlacedManifest,
  target: string,
  seenAt: SeenAt = usedInPlace(manifest, target),
): Promise<Materialised> {
  await mkdir(target, { recursive: true })
  const folders = new Set(manifest.files.map((file) => dirname(file.path)))
  for (const folder of folders) await mkdir(join(target, folder), { recursive: true })
  let bytes = 0
  for (const file of manifest.files) {
    const source = join(files.base, file.path)
    await copyFile(source, join(target, file.path))
    // What arrived may be read by everybody.
    if (manifest.arrived) await chmod(join(target, file.path), file.mode)
    bytes += (await stat(source)).size
  }
  const isArrived = manifest.arrived !== undefined
  const workspace = isArrived ? manifest.workspace : await realPathOf(manifest.workspace)
  const outside = new Set<string>()
  for (const [index, link] of manifest.links.entries()) {
    const [source, seen] = [standsAt(manifest, index), seenAt.dependencies(index)]
    if (source === null || seen === null) continue
    const isModules = basename(link.target) === 'node_modules'
    const copy = seenAt.workspace
    const places = { workspace, copy, source, seen, isModules, isArrived, outside }
    await linkDependencies(join(target, link.path), places)
  }
  return { outside: [...outside], bytes }
}

const realPathOf = (path: string) => realpath(path).catch(() => path)

function usedInPlace(manifest: PlacedManifest, target: string): SeenAt {
  return { workspace: target, dependencies: (index) => standsAt(manifest, index) }
}

type Places = {
  workspace: string
  /** Where the copy is seen. */
  copy: string
  /** The person's dependency folder or what arrived of it, and where that is seen. */
  source: string
  seen: string
  isModules: boolean
  isArrived: boolean
  outside: Set<string>
}

/** What tools keep between runs: a link would let a copy's tests write into the workspace. */
const CACHES = new Set(['.cache', '.vite', '.vite-temp'])

async function linkDependencies(target: string, places: Places): Promise<void> {
  const { source, seen, isModules } = places
  await mkdir(dirname(target), { recursive: true })
  if (!isModules) {
    await symlink(seen, target)
    return
  }
  await mkdir(target)
  for (const name of await readdir(source)) {
    if (CACHES.has(name)) continue
    if (!name.startsWith('@')) {
      await symlink(await packageFolder(name, places), join(target, name))
      continue
    }
    await mkdir(join(target, name))
    for (const scoped of await readdir(join(source, name))) {
      const path = join(name, scoped)
      await symlink(await packageFolder(path, places), join(target, path))
    }
  }
}

/**
 * Where a package is seen. One of the workspace itself (npm links those) is the copy's own, not the
 * person's.
 */
async function packageFolder(name: string, places: Places): Promise<string> {
  const { workspace, copy, source, seen, isArrived, outside } = places
  if (isArrived) return arrivedPackage(name, places)
  const real = await realpath(join(source, name)).catch(() => null)
  if (real === null || isBelow(real, source)) return join(seen, name)
  const inside = relative(workspace, real)
  const isOwn = isBelow(real, workspace) && !inside.split(sep).includes('node_modules')
  if (isOwn) return join(copy, inside)
  outside.add(real)
  return real
}

/** A link that leads out of what arrived is absolute, and is not this machine's to follow. */
async function arrivedPackage(name: string, places: Places): Promise<string> {
  const { workspace, copy, source, seen } = places
  const target = await readlink(join(source, name)).catch(() => null)
  if (target === null || !isAbsolute(target)) return join(seen, name)
  return isBelow(target, workspace) ? join(copy, relative(workspace, target)) : target
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep)
}
