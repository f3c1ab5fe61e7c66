import { staysParsable } from './candidates.ts'
import { type Edit, type History, reversed } from './history.ts'
import type { Output } from './items.ts'
import { rankCandidates } from './ranking.ts'

/** After so many tries in vain upon a kept edit, that edit is doubted too. */
const PATIENCE = 10

/** The edits of the next try: what failed is taken back, then the best untried candidate applied. */
export function nextTry(history: History): Output[] {
  const last = history.kept.at(-1)
  const failedTries = history.triesSinceKept + (history.trial ? 1 : 0)
  const doubted = last && failedTries >= PATIENCE ? [last.edit] : []
  const undone = [...(history.trial ? [history.trial] : []), ...doubted]
  const contents = textsWithout(history, undone)
  const known = { ...history, tried: [...history.tried, ...undone] }
  const best = rankCandidates(known, contents).find(({ candidate, source }) =>
    staysParsable(source, candidate),
  )
  if (!best) return []
  const { path, old_text, new_text } = best.candidate
  return [...undone.map(reversed), { path, old_text, new_text }].map(editCall)
}

/** Takes back every edit that is in force, the latest first. */
export function undoAll(history: History): Output[] {
  const kept = history.kept.map(({ edit }) => edit).reverse()
  return [...(history.trial ? [history.trial] : []), ...kept].map(reversed).map(editCall)
}

function textsWithout(history: History, edits: readonly Edit[]): Map<string, string> {
  const readable = [...history.contents].flatMap(([path, text]) =>
    text === null ? [] : [[path, text] as const],
  )
  const contents = new Map(readable)
  for (const edit of edits) {
    const text = contents.get(edit.path)
    if (text !== undefined) {
      contents.set(
        edit.path,
        text.replace(edit.new_text, () => edit.old_text),
      )
    }
  }
  return contents
}

const editCall = (edit: Edit): Output => ({ type: 'call', name: 'apply_edit', args: { ...edit } })
