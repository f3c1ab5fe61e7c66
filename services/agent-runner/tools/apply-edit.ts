import { sha256 } from '../../../shared/contracts/ids.ts'
import type { RunFiles } from '../../../shared/run-files.ts'
import type { Deps } from '../deps.ts'
import { replaceOnce } from '../files/replace-once.ts'
import { readText, writeText } from '../files/text-file.ts'
import { callKey, type Journal } from '../journal/journal.ts'
import { errorOutput } from './outputs.ts'

type Edit = { path: string; old_text: string; new_text: string }

/**
 * Carries out one edit, once. What it is about to do is journalled before the file is written, so a
 * replay finds the file as it was (and writes) or as it should be (and does not).
 */
export async function applyEdit(
  deps: Pick<Deps, 'journal'>,
  run: { runId: string; files: RunFiles; journal: Journal },
  callId: string,
  edit: Edit,
): Promise<string> {
  const { files } = run
  const text = await readText(files.work, edit.path)
  const begun = run.journal.edits.get(callKey(callId))
  if (begun && sha256(text) === begun.after) return edited(edit.path)
  if (begun && sha256(text) !== begun.before) {
    return errorOutput(
      'file_changed',
      `${edit.path} changed while this edit was under way; read it again.`,
    )
  }
  const replaced = replaceOnce(text, edit.old_text, edit.new_text)
  if (!replaced.ok) return errorOutput('edit_refused', replaced.message)
  if (replaced.text === text)
    return errorOutput('edit_refused', 'old_text and new_text are the same.')
  await deps.journal.appendKeyed(run.runId, 'edit', callKey(callId), {
    path: edit.path,
    before: sha256(text),
    after: sha256(replaced.text),
  })
  await writeText(files.work, edit.path, replaced.text)
  return edited(edit.path)
}

function edited(path: string): string {
  return JSON.stringify({ path, edited: true })
}
