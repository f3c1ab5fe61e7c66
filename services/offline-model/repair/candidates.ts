import type { Clue } from './clues.ts'
import { functionAt, functionsOf } from './functions.ts'
import type { Project, Proposal } from './rule.ts'
import type { Source } from './source.ts'
import { canParse } from './syntax.ts'
import { families } from './templates/all.ts'

/** One edit that may mend a project. `old_text` and `new_text` each identify their place alone. */
export type Candidate = {
  path: string
  old_text: string
  new_text: string
  kind: string
  family: string
  rationale: string
  prior: number
  clues: readonly Clue[]
  /** The changed piece itself, before and after, for descriptions. */
  before: string
  after: string
  offset: number
  functionName: string | null
}

/** All edits that the templates know for a file, without repetitions, in the order of the file. */
export function candidatesFor(source: Source, project: Project): Candidate[] {
  const functions = functionsOf(source)
  const found = new Map<string, Candidate>()
  for (const family of families) {
    for (const proposal of family.propose(source, project)) {
      const key = `${proposal.start}:${proposal.end}:${proposal.text}`
      // Where two templates know the same edit, the one that is surer of it describes it.
      if ((found.get(key)?.prior ?? 0) >= proposal.prior) continue
      const edit = uniqueEdit(source.text, proposal)
      if (!edit) continue
      found.set(key, {
        path: source.path,
        ...edit,
        kind: proposal.kind,
        family: family.name,
        rationale: proposal.rationale,
        prior: proposal.prior,
        clues: proposal.clues,
        before: source.text.slice(proposal.start, proposal.end),
        after: proposal.text,
        offset: proposal.start,
        functionName: functionAt(functions, proposal.start)?.name ?? null,
      })
    }
  }
  return [...found.values()].sort((a, b) => a.offset - b.offset)
}

/** What the templates may know of all files together. */
export function projectOf(sources: readonly Source[]): Project {
  const functions = sources.flatMap(functionsOf).filter((each) => each.isAsync)
  return { asyncNames: new Set(functions.map((each) => each.name)) }
}

/** False when the edited file would not even parse, as far as that can be told without running it. */
export function staysParsable(source: Source, candidate: Candidate): boolean {
  const edited = source.text.replace(candidate.old_text, () => candidate.new_text)
  return canParse(edited, source.language)
}

/**
 * The change as whole lines, with as many neighbours as make the old text unique in the file and
 * the new text unique in the edited file, so that the edit can also be taken back.
 */
function uniqueEdit(text: string, change: Proposal): { old_text: string; new_text: string } | null {
  const edited = text.slice(0, change.start) + change.text + text.slice(change.end)
  if (edited === text) return null
  let from = lineStart(text, change.start)
  let to = lineEnd(text, change.end)
  for (;;) {
    const oldText = text.slice(from, to)
    const newText = edited.slice(from, to + edited.length - text.length)
    if (occursOnce(text, oldText) && occursOnce(edited, newText)) {
      return { old_text: oldText, new_text: newText }
    }
    if (from === 0 && to === text.length) return null
    from = from === 0 ? 0 : lineStart(text, from - 1)
    to = to === text.length ? to : lineEnd(text, to + 1)
  }
}

const lineStart = (text: string, at: number) => text.lastIndexOf('\n', at - 1) + 1

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

function occursOnce(text: string, part: string): boolean {
  const first = text.indexOf(part)
  return part.trim() !== '' && first >= 0 && text.indexOf(part, first + 1) < 0
}
