import { sha256 } from '../../../shared/contracts/ids.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import type { RunFiles } from '../../../shared/run-files.ts'
import type { Deps } from '../deps.ts'
import { replaceOnce } from '../files/replace-once.ts'
import { MAX_FILE_BYTES } from '../files/text-file.ts'
import { openTree, saveObject } from '../files/tree.ts'
import { callKey, type Journal } from '../journal/journal.ts'
import { errorOutput } from './outputs.ts'

type Edit = { path: string; old_text: string; new_text: string }

/**
 * Carries out one edit, once: the new text is kept as an object, and the journal entry that names it
 * is the edit. A replay finds the entry and has nothing left to do.
 */
export async function applyEdit(
  deps: Pick<Deps, 'journal'>,
  run: { runId: string; files: RunFiles; journal: Journal },
  callId: string,
  edit: Edit,
): Promise<string> {
  const key = callKey(callId)
  const done = JSON.stringify({ path: edit.path, edited: true })
  if (run.journal.edits.has(key)) return done
  const text = await (await openTree(run.files, run.journal)).read(edit.path)
  const replaced = replaceOnce(text, edit.old_text, edit.new_text)
  if (!replaced.ok) return errorOutput('edit_refused', replaced.message)
  const problem = problemOf(edit.path, text, replaced.text)
  if (problem) return errorOutput('edit_refused', problem)
  const after = await saveObject(run.files, replaced.text)
  crashPoint('agent.object-written')
  const entry = { path: edit.path, before: sha256(text), after }
  await deps.journal.appendKeyed(run.runId, 'edit', key, entry)
  crashPoint('agent.edit-journalled')
  return done
}

/** What an edit makes has to be what can be read again: UTF-8 text of a bounded size. */
function problemOf(path: string, before: string, after: string): string | null {
  if (after === before) {
    return 'the edit changes nothing; line endings and the final newline stay as they are.'
  }
  if (after.includes('\0')) return `${path} would be a binary file: new_text holds a NUL character.`
  if (!after.isWellFormed()) return `${path} would not be UTF-8: new_text holds half a character.`
  const size = Buffer.byteLength(after)
  if (size <= MAX_FILE_BYTES) return null
  return `${path} would have ${size} bytes; at most ${MAX_FILE_BYTES} are allowed.`
}
