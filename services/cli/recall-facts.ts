import type { TranscriptLine } from './read-transcript.ts'

export type MatchShown = { score: number; fix: string; session: string }

/** What a transcript says about memory. Numbers are request numbers, from 1; null: it never came. */
export type RecallFacts = {
  /** The first request named no earlier response: the chain is new. */
  new_chain: boolean
  /** The request that brought the first memory search output to the model. */
  delivered_in: number | null
  /** The best match of that output; null when nothing was found. */
  match: MatchShown | null
  /** The request whose answer first read a file, edited one, or was final. */
  first_read: number | null
  first_edit: number | null
  first_final: number | null
  /** The model saw that output before it did any of these. */
  before_everything: boolean
}

const READS = ['read_file', 'search_project_files']

/** For a run in which the model searches by its tool. */
export function recallFacts(lines: TranscriptLine[]): RecallFacts {
  const request = lines.find((line) => line.type === 'request')
  const search = lines.find(
    (line) => line.type === 'output' && line.tool === 'search_codebase_memory',
  )
  const delivered = search?.type === 'output' ? search : null
  const delivered_in = delivered?.request ?? null
  const first_read = firstCallOf(lines, READS)
  const first_edit = firstCallOf(lines, ['apply_edit'])
  const first_final = firstFinal(lines)
  return {
    new_chain: request?.type === 'request' && request.previous_response_id === null,
    delivered_in,
    match: matchIn(delivered?.output ?? ''),
    first_read,
    first_edit,
    first_final,
    before_everything:
      delivered_in !== null &&
      // The answer to the very request that delivered it has seen it.
      [first_read, first_edit, first_final].every((n) => n === null || n >= delivered_in),
  }
}

function firstCallOf(lines: TranscriptLine[], tools: string[]): number | null {
  for (const line of lines) {
    if (line.type !== 'response') continue
    if (line.output.some((item) => tools.includes(item.name ?? ''))) return line.n
  }
  return null
}

/** A message beside tool calls is a remark; one without them is an answer. */
function firstFinal(lines: TranscriptLine[]): number | null {
  for (const line of lines) {
    if (line.type !== 'response') continue
    const calls = line.output.some((item) => item.type === 'function_call')
    if (!calls && line.output.some((item) => item.type === 'message')) return line.n
  }
  return null
}

function matchIn(output: string): MatchShown | null {
  const score = /^Match 1 \(score=([\d.-]+)\)$/m.exec(output)?.[1]
  if (score === undefined) return null
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(output)?.[1] ?? ''
  return { score: Number(score), fix: field('Fix'), session: field('Session') }
}
