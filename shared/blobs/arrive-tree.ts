import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Blobs } from './blobs.ts'
import { lost } from './blobs.ts'
import { inBatches } from './content.ts'
import { checkTree, type Tree, type TreeRef, treeSchema } from './tree.ts'

/** What came from other machines, by its hash: shared by all runs that need it. */
export const arrivedFolder = (home: string) => join(home, 'arrived')

/** What its writer has not finished begins so. */
export const UNFINISHED = '.arriving-'

const AT_ONCE = { items: 256, bytes: 8_000_000 }

export type ArrivedTree = { folder: string; tree: Tree }

/**
 * A tree as a folder of this machine, brought here unless it is here already. It appears under its name
 * when all of it is written: whoever comes second, or after a kill, sees all or nothing. Its modes are
 * those that it was sent with, but everybody may read it: tests have another uid. Throws AstraError
 * when a part is gone, was damaged, or would be written elsewhere.
 */
export async function arriveTree(
  blobs: Blobs,
  home: string,
  what: string,
  ref: TreeRef,
): Promise<ArrivedTree> {
  const place = join(arrivedFolder(home), ref.sha256)
  const there = await present(place)
  if (there) return there
  const { text, tree } = await fetchTree(blobs, what, ref)
  const unfinished = join(arrivedFolder(home), `${UNFINISHED}${randomBytes(6).toString('hex')}`)
  await mkdir(unfinished, { recursive: true, mode: 0o700 })
  try {
    await writeTree(blobs, what, ref, tree, join(unfinished, 'files'))
    await writeFile(join(unfinished, 'tree.json'), text)
    await rename(unfinished, place)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    // Somebody else was faster.
    const other = isTaken(error) ? await present(place) : null
    if (!other) throw error
    return other
  }
  return { folder: join(place, 'files'), tree }
}

/** What a tree is made of, without its files. Throws AstraError for one that is gone or hostile. */
export async function fetchTree(
  blobs: Blobs,
  what: string,
  ref: TreeRef,
): Promise<{ text: Uint8Array; tree: Tree }> {
  const [text] = await blobs.in(ref.place).get([ref])
  if (!text) throw lost(what)
  const tree = treeSchema.parse(JSON.parse(new TextDecoder().decode(text)))
  checkTree(tree)
  return { text, tree }
}

async function present(place: string): Promise<ArrivedTree | null> {
  const now = new Date()
  try {
    // What is in use is not removed.
    await utimes(place, now, now)
    const text = await readFile(join(place, 'tree.json'), 'utf8')
    return { folder: join(place, 'files'), tree: treeSchema.parse(JSON.parse(text)) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const isTaken = (error: unknown) =>
  ['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')

async function writeTree(
  blobs: Blobs,
  what: string,
  { place }: TreeRef,
  { files, links, folders }: Tree,
  target: string,
): Promise<void> {
  await makeFolder(target)
  const leaves = [...files, ...links].map(({ path }) => dirname(path))
  const wanted = new Set([...leaves, ...folders].flatMap(withAbove))
  for (const folder of [...wanted].sort()) await makeFolder(join(target, folder))
  for (const batch of inBatches(files, ({ size }) => size, AT_ONCE)) {
    const contents = await blobs.in(place).get(batch)
    const write = batch.map(async ({ path, mode }, index) => {
      const bytes = contents[index]
      if (!bytes) throw lost(`${path} of ${what}`)
      await writeFile(join(target, path), bytes, { flag: 'wx' })
      await chmod(join(target, path), mode | 0o444)
    })
    await Promise.all(write)
  }
  // Last: until now there was no link that anything could have been written through.
  for (const link of links) await symlink(link.target, join(target, link.path))
}

/** Whatever our umask is, others may enter. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true })
  await chmod(path, 0o755)
}

function withAbove(folder: string): string[] {
  if (folder === '.') return []
  const parts = folder.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}
