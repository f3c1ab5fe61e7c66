import { sha256 } from '../../../shared/contracts/ids.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import type { RunFiles } from '../../../shared/run-files.ts'
import type { Deps } from '../deps.ts'
import { replaceOnce } from '../files/replace-once.ts'
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
  if (replaced.text === text) {
    return errorOutput('edit_refused', 'old_text and new_text are the same.')
  }
  const after = await saveObject(run.files, replaced.text)
  crashPoint('agent.object-written')
  const entry = { path: edit.path, before: sha256(text), after }
  await deps.journal.appendKeyed(run.runId, 'edit', key, entry)
  crashPoint('agent.edit-journalled')
  return done
}
