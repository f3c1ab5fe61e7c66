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

/** How many of the nearest are looked at: first, and at most when more are as near as a duplicate. */
const FIRST_LIMIT = 20
const LAST_LIMIT = 320

/**
 * The live, proved records that say what this one says, to the same readers: the same repository,
 * group, error type and failing test, nearly the same symptom, and the same change or nearly the same words about it.
 */
export async function nearDuplicates(
  { backend, trusted }: { backend: MemoryBackend; trusted: Map<string, KeyObject> },
  record: MemoryRecord,
  vectors: RecordVectors,
): Promise<MemoryRecord[]> {
  const { repository_id } = record
  if (repository_id === null || record.symptom.trim() === '') return []
  if (proofProblem(record, trusted) !== null) return []
  const { alike, words } = await recordsOfTheTests(backend, record, repository_id, vectors)
  return alike.filter(
    (other) =>
      (words.get(other.memory_id) ?? -1) >= wordsNeeded(record, other) &&
      proofProblem(other, trusted) === null,
  )
}

type Alike = {
  /** With nearly the same symptom, of the same failing tests and for the same readers. */
  alike: MemoryRecord[]
  /** How near the fixes are, by memory id. */
  words: Map<string, number>
}

/** Other tests may fail with the same symptom, in any number: so more are looked at until none is left. */
async function recordsOfTheTests(
  backend: MemoryBackend,
  record: MemoryRecord,
  repositoryId: string,
  vectors: RecordVectors,
): Promise<Alike> {
  for (let limit = FIRST_LIMIT; ; limit *= 4) {
    const find = (vector: Float32Array): Promise<Candidate[]> =>
      backend.candidates({
        errorType: record.error_type,
        scope: { repository_id: repositoryId },
        notBefore: null,
        vectors: [vector],
        text: '',
        limit,
      })
    const [bySymptom, byFix] = await Promise.all([find(vectors.symptom), find(vectors.fix)])
    const near = bySymptom.filter(({ cosine }) => cosine.symptom >= SAME_SYMPTOM)
    const alike = near.map((each) => each.record).filter((other) => isOfTheTests(record, other))
    const words = new Map(byFix.map((each) => [each.record.memory_id, each.cosine.fix]))
    const isWhole = near.length < limit && alike.every(({ memory_id }) => words.has(memory_id))
    if (isWhole || limit >= LAST_LIMIT) return { alike, words }
  }
}

function isOfTheTests(record: MemoryRecord, other: MemoryRecord): boolean {
  return (
    other.memory_id !== record.memory_id &&
    other.group === record.group &&
    other.failing_tests.some((test) => record.failing_tests.includes(test))
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
