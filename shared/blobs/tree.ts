import { posix } from 'node:path'
import { z } from 'zod'
import { sha256Schema } from '../contracts/ids.ts'
import { AstraError } from '../errors.ts'

/** A folder's contents by their hashes; paths are relative to it. */
export const treeSchema = z.strictObject({
  files: z.array(
    z.strictObject({
      path: z.string(),
      sha256: sha256Schema,
      mode: z.number().int().min(0).max(0o777),
      size: z.number().int().nonnegative(),
    }),
  ),
  /** A target is relative and stays inside, or absolute. */
  links: z.array(z.strictObject({ path: z.string(), target: z.string().min(1) })),
  /** Those that hold nothing. */
  folders: z.array(z.string()),
})
export type Tree = z.infer<typeof treeSchema>

/** Where a tree is found. */
export const treeRefSchema = z.strictObject({
  /** Of the tree as JSON. */
  sha256: sha256Schema,
  size: z.number().int().nonnegative(),
  /** Of all files together. */
  bytes: z.number().int().nonnegative(),
  place: z.enum(['redis', 'shared']),
})
export type TreeRef = z.infer<typeof treeRefSchema>

const MAX_PATH_BYTES = 4096

/**
 * Throws AstraError for a tree that could be written anywhere but into its own folder: whoever made it
 * is not believed. No path goes through a link or a file, none is named twice.
 */
export function checkTree({ files, links, folders }: Tree): void {
  const leaves = new Set<string>()
  const paths = [...files.map(({ path }) => path), ...links.map(({ path }) => path), ...folders]
  for (const path of paths) {
    if (!isInside(path)) throw hostile(path, 'leads out of its folder')
    if (leaves.has(path)) throw hostile(path, 'is named twice')
    leaves.add(path)
  }
  const through = paths.find((path) => foldersAbove(path).some((above) => leaves.has(above)))
  if (through !== undefined) throw hostile(through, 'goes through something that is no folder')
  const out = links.find(leadsOut)
  if (out) throw hostile(out.path, 'is a link that leads out of its folder')
}

/** One that leads to an absolute path says so; tests follow it where there is nothing of ours. */
function leadsOut({ path, target }: Tree['links'][number]): boolean {
  if (target.includes('\0')) return true
  const place = posix.normalize(posix.join(posix.dirname(path), target))
  return !posix.isAbsolute(target) && (place === '..' || place.startsWith('../'))
}

/** Whether a relative path is plain, and so stays below its folder. */
export function isInside(path: string): boolean {
  const parts = path.split('/')
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..')
  return isPlain && !path.includes('\0') && Buffer.byteLength(path) <= MAX_PATH_BYTES
}

function foldersAbove(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

const hostile = (path: string, why: string) =>
  new AstraError(
    'hostile_tree',
    `${JSON.stringify(path.slice(0, 200))} ${why}: nothing was written`,
  )
