import type { KeyObject } from 'node:crypto'
import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import type { Candidate, MemoryBackend, RecordVectors } from '../backend.ts'
import { proofProblem } from '../proof.ts'

/**
 * All three from test/bench/near-duplicates.ts, with the bundled model. Symptoms of different bugs of
 * one error type, hard pairs among them, reach 0.75; one symptom with all its numbers changed has 0.88
 * to 1, in the median 0.99.
 */
export const SAME_SYMPTOM = 0.9
/**
 * Words alone: fixes that differ in one word ("trim each name", "drop empty names") reach 0.92, and
 * the same fix told twice has 0.58 to 0.98. So what the system saw by itself counts more: with the
 * same lines changed, words only have to be about the same thing.
 */
export const SAME_WORDS = 0.95
export const SAME_CHANGE_WORDS = 0.5

/** Near-duplicates that are looked at: more of them live at once than this cannot be. */
const LIMIT = 20

/**
 * The live, proved records that say what this one says, to the same readers: the same repository,
 * group, error type and failing test, nearly the same symptom, and the same change or nearly the same words about it.
 */
export async function nearDuplicates(
  { backend, trusted }: { backend: MemoryBackend; trusted: Map<string, KeyObject> },
  record: MemoryRecord,
  vectors: RecordVectors,
): Promise<MemoryRecord[]> {
  const { repository_id, error_type: errorType } = record
  if (repository_id === null || record.symptom.trim() === '') return []
  if (proofProblem(record, trusted) !== null) return []
  const find = (vector: Float32Array): Promise<Candidate[]> =>
    backend.candidates({
      errorType,
      scope: { repository_id },
      notBefore: null,
      vectors: [vector],
      text: '',
      limit: LIMIT,
    })
  const [bySymptom, byFix] = await Promise.all([find(vectors.symptom), find(vectors.fix)])
  const words = new Map(byFix.map((each) => [each.record.memory_id, each.cosine.fix]))
  return bySymptom
    .filter(({ cosine }) => cosine.symptom >= SAME_SYMPTOM)
    .map((each) => each.record)
    .filter(
      (other) =>
        other.memory_id !== record.memory_id &&
        other.group === record.group &&
        other.failing_tests.some((test) => record.failing_tests.includes(test)) &&
        (words.get(other.memory_id) ?? -1) >= wordsNeeded(record, other) &&
        proofProblem(other, trusted) === null,
    )
}

function wordsNeeded(one: MemoryRecord, other: MemoryRecord): number {
  const change = changeOf(one.diff)
  return change !== '' && change === changeOf(other.diff) ? SAME_CHANGE_WORDS : SAME_WORDS
}

/** What a diff takes out and puts in, wherever that stands in the file. */
function changeOf(diff: string): string {
  return diff
    .split('\n')
    .filter((line) => /^[+-]/.test(line) && !/^(\+\+\+|---) /.test(line))
    .map((line) => `${line[0]}${line.slice(1).trim()}`)
    .filter((line) => line.length > 1)
    .join('\n')
}
