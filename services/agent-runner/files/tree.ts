import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getContent, putContent } from '../../../shared/blobs/blobs.ts'
import { sha256 } from '../../../shared/contracts/ids.ts'
import type { Patch } from '../../../shared/contracts/patch.ts'
import { type RunFiles, readIfThere, writeFileAtomic } from '../../../shared/run-files.ts'
import { findSnapshot } from '../../../shared/run-snapshot.ts'
import { allCalls } from '../journal/conversation.ts'
import { callKey, type Journal } from '../journal/journal.ts'
import { isUsablePath, PathRefused, pathParts } from './confined.ts'
import { MAX_FILE_BYTES, readText } from './text-file.ts'

/**
 * The project as the model sees it: the run's base with the journal's edits. No file is ever
 * changed: an edit is a new object named by its hash, and the journal says which one counts. So a
 * worker that was taken over and wakes up late can overwrite nothing.
 */
export type Tree = {
  /** In order; secrets are not shown, nor what no tool could name. */
  paths: string[]
  /** Throws PathRefused, in words for the model, for what is not a text file of the project. */
  read(path: string): Promise<string>
  /** What the edits change against the base. */
  patch(): Promise<Patch>
}

export async function openTree(files: RunFiles, journal: Journal): Promise<Tree> {
  const snapshot = await findSnapshot(files)
  const base = new Map(snapshot.manifest.files.map((file) => [file.path, file.sha256]))
  const edited = editedPaths(journal)
  return {
    paths: [...base.keys()].filter(isUsablePath).sort(),
    async read(path) {
      pathParts(path)
      if (!base.has(path)) {
        throw new PathRefused(`there is no file ${path}; list_project_files shows all of them`)
      }
      const object = edited.get(path)
      return object === undefined ? readText(snapshot.base, path) : readObject(files, object)
    },
    async patch() {
      const changed = [...edited]
        .filter(([path, after]) => base.get(path) !== after)
        .map(async ([path, after]) => {
          return { path, before: base.get(path) ?? null, after: await readObject(files, after) }
        })
      return { files: await Promise.all(changed) }
    },
  }
}

/**
 * Keeps a text under its hash, for all machines: the journal may name it only when any of them can go on.
 * Repeating it is harmless.
 */
export async function saveObject(files: RunFiles, text: string): Promise<string> {
  const hash = sha256(text)
  const path = join(files.objects, hash)
  if (!existsSync(path)) await writeFileAtomic(path, text)
  if (files.blobs) await putContent(files.blobs, 'the edited file', Buffer.from(text))
  return hash
}

async function readObject(files: RunFiles, hash: string): Promise<string> {
  const path = join(files.objects, hash)
  const text = files.blobs ? await readIfThere(path) : await readFile(path, 'utf8')
  if (text === null) return objectFromElsewhere(files, hash)
  if (sha256(text) !== hash) throw new Error(`the object ${hash} was altered`)
  return text
}

/** Another machine's worker made the edit. */
async function objectFromElsewhere({ blobs, runId }: RunFiles, hash: string): Promise<string> {
  if (!blobs) throw new Error(`the object ${hash} is gone`)
  const name = { sha256: hash, maxBytes: MAX_FILE_BYTES }
  const bytes = await getContent(blobs, `an edit of run ${runId}`, name)
  // The byte order mark is the file's.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

/** The object that each edited path holds now: that of its last edit. */
function editedPaths(journal: Journal): Map<string, string> {
  const edits = allCalls(journal).flatMap((call) => journal.edits.get(callKey(call.call_id)) ?? [])
  return new Map(edits.map((edit) => [edit.path, edit.after]))
}
