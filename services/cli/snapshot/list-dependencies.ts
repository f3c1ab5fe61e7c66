import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { bytesOf, type ListedTree } from '../../../shared/blobs/publish-tree.ts'

/**
 * Made anew where they are missing: what compilers keep is only good for the times of its sources, and
 * tools want to write to their caches.
 */
const LEFT_OUT = new Set(['__pycache__', '.cache', '.vite', '.vite-temp'])

/**
 * Lists a dependency folder so that it can stand on another machine. A link that leads out of it becomes
 * absolute: in a sandbox it then leads into the copy of the workspace, which has the workspace's path.
 */
export async function listDependencies(folder: string): Promise<ListedTree & { bytes: number }> {
  const listed: ListedTree = {
    files: [],
    links: [],
    folders: [],
    read: (path) => readFile(join(folder, path)).catch(() => null),
  }
  await walk(folder, '', listed)
  return { ...listed, bytes: bytesOf(listed) }
}

async function walk(root: string, path: string, listed: ListedTree): Promise<void> {
  const entries = await readdir(join(root, path), { withFileTypes: true }).catch(() => [])
  const sorted = entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  if (sorted.length === 0 && path !== '') listed.folders.push(path)
  for (const entry of sorted) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`
    if (LEFT_OUT.has(entry.name)) continue
    if (entry.isDirectory()) await walk(root, inner, listed)
    else if (entry.isSymbolicLink()) await addLink(root, inner, listed)
    else if (entry.isFile()) await addFile(root, inner, listed)
  }
}

async function addFile(root: string, path: string, { files }: ListedTree): Promise<void> {
  const stats = await lstat(join(root, path)).catch(() => null)
  if (stats?.isFile()) files.push({ path, mode: stats.mode & 0o777, size: stats.size })
}

async function addLink(root: string, path: string, { links }: ListedTree): Promise<void> {
  const named = await readlink(join(root, path)).catch(() => null)
  if (named === null) return
  const place = dirname(join(root, path))
  const target = resolve(place, named)
  const isInside = target === root || target.startsWith(root + sep)
  if (!isInside) links.push({ path, target })
  else links.push({ path, target: isAbsolute(named) ? relative(place, target) || '.' : named })
}
