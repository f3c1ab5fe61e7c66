import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Blobs, getContent, putContent } from './blobs/blobs.ts'
import { announceTranscript, findTranscript } from './blobs/published-run.ts'
import { type Patch, patchFromText, patchHash, patchSchema, patchText } from './contracts/patch.ts'
import { AstraError } from './errors.ts'

/**
 * Where a run's files are. The folder is shared by the processes of one machine; those of other
 * machines are handed what they need through `blobs`.
 */
export function runFiles(home: string, runId: string, blobs: Blobs | null = null) {
  const dir = join(home, 'runs', runId)
  return {
    home,
    runId,
    blobs,
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

/** The largest patch or transcript that is taken from another machine. */
const MAX_BYTES = 500_000_000

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

/** The text of a file of this machine, or null where it is none of its files. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Keeps a patch under its hash, for all machines, and returns the hash. Repeating it is harmless. */
export async function savePatch(files: RunFiles, patch: Patch): Promise<string> {
  const hash = patchHash(patch)
  await writeFileAtomic(join(files.patches, `${hash}.json`), JSON.stringify(patch))
  if (files.blobs) await putContent(files.blobs, 'the patch', Buffer.from(patchText(patch)))
  return hash
}

/** The patch of that hash. Throws when it is missing or does not have the hash it is named by. */
export async function loadPatch(files: RunFiles, hash: string): Promise<Patch> {
  const path = join(files.patches, `${hash}.json`)
  const text = files.blobs ? await readIfThere(path) : await readFile(path, 'utf8')
  if (text === null && files.blobs) {
    const what = `the patch of run ${files.runId}`
    const bytes = await getContent(files.blobs, what, { sha256: hash, maxBytes: MAX_BYTES })
    return patchFromText(new TextDecoder().decode(bytes))
  }
  const patch = patchSchema.parse(JSON.parse(text ?? ''))
  if (patchHash(patch) !== hash) throw new Error(`patch ${hash} was altered`)
  return patch
}

/** Keeps what a run was made of, for all machines. Repeating it is harmless. */
export async function saveTranscript(files: RunFiles, text: string): Promise<void> {
  await writeFileAtomic(files.transcript, text)
  if (!files.blobs) return
  const bytes = Buffer.from(text)
  const sha256 = await putContent(files.blobs, 'the transcript', bytes)
  await announceTranscript(files.blobs, files.runId, { sha256, size: bytes.length })
}

/** Throws when there is no transcript. */
export async function loadTranscript(files: RunFiles): Promise<string> {
  const { blobs, runId } = files
  if (!blobs) return readFile(files.transcript, 'utf8')
  const text = await readIfThere(files.transcript)
  if (text !== null) return text
  const named = await findTranscript(blobs, runId)
  if (!named) throw new AstraError('no_transcript', `run ${runId} has no transcript`)
  const name = { sha256: named.sha256, maxBytes: Math.min(named.size, MAX_BYTES) }
  return new TextDecoder().decode(await getContent(blobs, `the transcript of run ${runId}`, name))
}
