import { type Candidate, candidatesFor, projectOf } from './candidates.ts'
import { type Clue, type Clues, cluesOf, cluesOfWords } from './clues.ts'
import { readFailingTests } from './failing-tests.ts'
import { functionsOf } from './functions.ts'
import { type Edit, editKey, type History } from './history.ts'
import { fileRelevance, framesIn, isEditable, isTestFile } from './project-files.ts'
import { functionReach } from './reach.ts'
import { languageOf, type Source, sourceOf } from './source.ts'
import { overlap, wordsOf } from './words.ts'

/** The factors of a candidate's score; their product orders the tries. */
export type Score = {
  prior: number
  file: number
  place: number
  clue: number
  words: number
  memory: number
  tried: number
}

export type Ranked = { candidate: Candidate; source: Source; score: number; factors: Score }

/** What is left of a kind's score after each try of that kind that did not help. */
const FAILED_KIND = 0.8

/** Untried edits for the given texts, most promising first. Equal input gives equal order. */
export function rankCandidates(history: History, contents: ReadonlyMap<string, string>): Ranked[] {
  const sources = [...contents].flatMap(([path, text]) => {
    const language = languageOf(path)
    return language ? [sourceOf(path, text, language)] : []
  })
  const editable = sources.filter((source) => isEditable(source.path))
  const scoreOf = scorer(
    history,
    editable,
    sources.filter((source) => isTestFile(source.path)),
  )
  const project = projectOf(editable)
  const tried = new Set(history.tried.map(editKey))
  const known = editable.flatMap((source) =>
    candidatesFor(source, project).map((candidate) => ({ candidate, source })),
  )
  const failedKinds = Map.groupBy(
    known.filter(({ candidate }) => tried.has(editKey(candidate))),
    ({ candidate }) => candidate.kind,
  )
  return known
    .filter(({ candidate }) => !tried.has(editKey(candidate)))
    .map(({ candidate, source }) => {
      const factors = scoreOf(candidate, source)
      factors.tried *= FAILED_KIND ** (failedKinds.get(candidate.kind)?.length ?? 0)
      const score = Object.values(factors).reduce((product, factor) => product * factor, 1)
      return { candidate, source, score, factors }
    })
    .sort((a, b) => b.score - a.score)
}

function scorer(history: History, editable: readonly Source[], tests: readonly Source[]) {
  const failing = history.failing ?? []
  const failingTests = readFailingTests(failing, tests)
  const clues = cluesOf({
    output: history.lastOutput,
    testNames: failing.join('\n').replaceAll('_', ' '),
    testLiterals: failingTests.literals,
  })
  const relevance = fileRelevance(history)
  const reach = functionReach(editable, failingTests)
  const frames = framesIn(history.lastOutput, history.files ?? [])
  const failureWords = wordsOf(`${failing.join(' ')} ${failingTests.literals.join(' ')}`)
  const hints = memoryHints(history)

  return (candidate: Candidate, source: Source): Score => {
    const line = lineNumber(source.text, candidate.offset)
    const onFrame = frames.some((frame) => frame.path === source.path && frame.line === line)
    const inFrame = frames.some(
      (frame) => frame.path === source.path && near(source, candidate, frame.line),
    )
    return {
      prior: candidate.prior * (mayRunAway(candidate) ? 0.2 : 1),
      file: relevance.get(candidate.path) ?? 0.35,
      place: reach(candidate, source) * (onFrame ? 2.5 : inFrame ? 1.5 : 1),
      clue: 1 + 4 * strongest(candidate.clues, clues),
      words: 1 + 0.6 * overlap(wordsOf(candidate.old_text), failureWords),
      memory: memoryFactor(candidate, hints),
      tried: triedFactor(candidate, history.tried),
    }
  }
}

/** A loop that never ends costs the whole time limit of a test run. */
function mayRunAway({ kind, old_text }: Candidate): boolean {
  const turns = kind === 'direction-of-comparison' || kind === 'arithmetic-operator'
  return /\bwhile\b/.test(old_text) || (turns && /\bfor \(|[-+]= /.test(old_text))
}

const strongest = (kinds: readonly Clue[], clues: Clues) =>
  Math.max(0, ...kinds.map((kind) => clues.get(kind) ?? 0))

const lineNumber = (text: string, offset: number) => text.slice(0, offset).split('\n').length

/** Is the line inside the function that the candidate changes? */
function near(source: Source, candidate: Candidate, line: number): boolean {
  const range = functionsOf(source).find(
    (each) =>
      each.name === candidate.functionName &&
      each.start <= candidate.offset &&
      candidate.offset < each.end,
  )
  if (!range) return false
  return lineNumber(source.text, range.start) <= line && line <= lineNumber(source.text, range.end)
}

type Hint = { words: Set<string>; names: Set<string>; clues: Set<Clue>; trust: number }

/** A hint loses its weight with every try that did not help: it may be about another cause. */
function memoryHints(history: History): Hint[] {
  return history.retrieved.map((fix, index) => ({
    words: wordsOf(fix.fix),
    names: new Set(fix.fix.match(/\w+/g) ?? []),
    clues: cluesOfWords(fix.fix),
    trust:
      ((0.5 + Math.min(0.5, Math.max(0, fix.score))) * 0.6 ** history.tried.length) / (index + 1),
  }))
}

function memoryFactor(candidate: Candidate, hints: readonly Hint[]): number {
  const words = wordsOf(`${candidate.kind} ${candidate.rationale} ${candidate.after}`)
  const likeness = hints.map((hint) => {
    const shared = candidate.clues.some((clue) => hint.clues.has(clue)) ? 0.3 : 0
    const named =
      candidate.functionName !== null && hint.names.has(candidate.functionName) ? 0.5 : 0
    return hint.trust * (0.7 * overlap(words, hint.words) + shared + named)
  })
  return 1 + 3 * Math.max(0, ...likeness)
}

/** A kind that failed in a file, and a line that was changed in vain, are less likely the next time. */
function triedFactor(candidate: Candidate, tried: readonly Edit[]): number {
  const sameLines = tried.filter(
    (edit) => edit.path === candidate.path && edit.old_text === candidate.old_text,
  ).length
  return 0.8 ** sameLines
}
