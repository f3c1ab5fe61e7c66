import { copyFile, mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
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
  for (const link of manifest.links) await linkDependencies(link.target, join(target, link.path))
}

async function linkDependencies(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  if (basename(source) !== 'node_modules') {
    await symlink(source, target)
    return
  }
  await mkdir(target)
  for (const name of await readdir(source)) await symlink(join(source, name), join(target, name))
}
