import { copyFile, mkdir, readdir, readFile, realpath, symlink } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { type Manifest, manifestSchema } from './contracts/manifest.ts'
import type { RunFiles } from './run-files.ts'

export async function readManifest(files: RunFiles): Promise<Manifest> {
  return manifestSchema.parse(JSON.parse(await readFile(files.manifest, 'utf8')))
}

/**
 * Makes a fresh copy of a run's base in `target`, which must not exist or be empty. Dependency
 * folders come by reference: `node_modules` as a real folder of links, because tools write into it.
 */
export async function materialise(
  files: RunFiles,
  manifest: Manifest,
  target: string,
): Promise<void> {
  await mkdir(target, { recursive: true })
  const folders = new Set(manifest.files.map((file) => dirname(file.path)))
  for (const folder of folders) await mkdir(join(target, folder), { recursive: true })
  for (const file of manifest.files) {
    await copyFile(join(files.base, file.path), join(target, file.path))
  }
  const workspace = await realpath(manifest.workspace).catch(() => manifest.workspace)
  for (const link of manifest.links) {
    await linkDependencies(link.target, join(target, link.path), { workspace, copy: target })
  }
}

type Places = { workspace: string; copy: string }

/** What tools keep between runs: a link would let a copy's tests write into the workspace. */
const CACHES = new Set(['.cache', '.vite', '.vite-temp'])

async function linkDependencies(source: string, target: string, places: Places): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  if (basename(source) !== 'node_modules') {
    await symlink(source, target)
    return
  }
  await mkdir(target)
  for (const name of await readdir(source)) {
    if (CACHES.has(name)) continue
    if (name.startsWith('@')) await linkScope(join(source, name), join(target, name), places)
    else await symlink(await packageFolder(join(source, name), places), join(target, name))
  }
}

async function linkScope(source: string, target: string, places: Places): Promise<void> {
  await mkdir(target)
  for (const name of await readdir(source)) {
    await symlink(await packageFolder(join(source, name), places), join(target, name))
  }
}

/** A package of the workspace itself (npm links those) is the copy's own, not the person's. */
async function packageFolder(path: string, { workspace, copy }: Places): Promise<string> {
  const real = await realpath(path).catch(() => path)
  const inside = relative(workspace, real)
  const isOwn = !inside.startsWith('..') && !inside.split(sep).includes('node_modules')
  return isOwn ? join(copy, inside) : path
}
