import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Patch, patchHash, patchSchema } from './contracts/patch.ts'

/** Where a run's files are. The folder is shared by the processes of one installation. */
export function runFiles(home: string, runId: string) {
  const dir = join(home, 'runs', runId)
  return {
    dir,
    /** The workspace as it was when the run was asked for; nothing writes here after the snapshot. */
    base: join(dir, 'base'),
    /** What the base is made of: see `manifestSchema`. */
    manifest: join(dir, 'base.json'),
    /** Edited texts by their hash; the journal says which of them count. */
    objects: join(dir, 'objects'),
    patches: join(dir, 'patches'),
    reports: join(dir, 'reports'),
    /** One JSON line for each request, response, tool output and verdict. */
    transcript: join(dir, 'transcript.jsonl'),
  }
}

export type RunFiles = ReturnType<typeof runFiles>

/**
 * Writes a file so that a reader sees all of it or none. A kill in between leaves a `.tmp` beside it,
 * which nothing ever reads: files are asked for by their whole names, and go with their folder.
 */
export async function writeFileAtomic(path: string, data: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`
  await writeFile(temporary, data, { flag: 'wx', flush: true })
  await rename(temporary, path)
}

/** Keeps a patch under its hash and returns the hash. Repeating it is harmless. */
export async function savePatch(files: RunFiles, patch: Patch): Promise<string> {
  const hash = patchHash(patch)
  await writeFileAtomic(join(files.patches, `${hash}.json`), JSON.stringify(patch))
  return hash
}

/** The patch of that hash. Throws when the file is missing or does not have the hash it is named by. */
export async function loadPatch(files: RunFiles, hash: string): Promise<Patch> {
  const text = await readFile(join(files.patches, `${hash}.json`), 'utf8')
  const patch = patchSchema.parse(JSON.parse(text))
  if (patchHash(patch) !== hash) throw new Error(`patch ${hash} was altered`)
  return patch
}
