import type { KeyObject } from 'node:crypto'
import type { NoMatch } from '../../shared/contracts/memory.ts'
import { proofProblem } from './proof.ts'
import { evidenceOf } from './retrieval/evidence.ts'
import type { Asked } from './retrieval/features.ts'
import type { Judged, Judgement } from './retrieval/judge.ts'

/** What answers are told apart and labelled by. */
export type Told = { judgement: Judgement; trusted: Map<string, KeyObject> }

/** How many are named: further down nothing has anything to do with what was asked. */
const NAMED = 8

/** Of the nearest that are not answered: each with what speaks for and against it, and why not. */
export function noMatchesOf(
  asked: Asked,
  result: { answers: readonly Judged[]; found: readonly Judged[]; threshold: number },
  { judgement: { judged, weight }, trusted }: Told,
): NoMatch[] {
  const candidates = (list: readonly Judged[]) => new Set(list.map(({ candidate }) => candidate))
  const [answered, found] = [candidates(result.answers), candidates(result.found)]
  const left = judged.filter(({ candidate }) => !answered.has(candidate)).slice(0, NAMED)
  return left.map((each) => {
    const { record, cosine } = each.candidate
    const proved = proofProblem(record, trusted) === null
    const evidence = evidenceOf(asked, each, { weight, rivals: judged, proved })
    return {
      memory_id: record.memory_id,
      fix_description: record.fix_description,
      error_type: record.error_type,
      score: Math.max(cosine.symptom, cosine.fix),
      probability: each.probability,
      kinship: each.kinship,
      speaks_for: evidence.for,
      speaks_against: evidence.against,
      proved,
      why: found.has(each.candidate)
        ? { reason: 'beyond_top_k' }
        : { reason: 'unlikely', threshold: result.threshold },
    }
  })
}
