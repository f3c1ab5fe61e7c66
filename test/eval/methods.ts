import type { Candidate, MemoryBackend } from '../../services/memory-store/backend.ts'
import { judge } from '../../services/memory-store/retrieval/judge.ts'
import type { RelevanceModel } from '../../services/memory-store/retrieval/relevance-model.ts'
import type { Case, StoredCorpus } from './store-corpus.ts'

export const methods = ['tutorial', 'bm25', 'dense', 'fused'] as const
export type Method = (typeof methods)[number]

/** Enough for every metric, which look at ten. */
const DEPTH = 20

type Search = { vector: Float32Array; by: (candidate: Candidate) => number }

const only: Record<Exclude<Method, 'fused'>, (each: Case) => Search> = {
  tutorial: ({ vectors }) => ({ vector: vectors.raw, by: ({ cosine }) => cosine.fix }),
  bm25: ({ vectors }) => ({ vector: vectors.normalised, by: ({ lexical }) => lexical }),
  dense: ({ vectors }) => ({ vector: vectors.normalised, by: ({ cosine }) => cosine.symptom }),
}

/**
 * The fixes as a method ranks them, best first, before any decision. The first three filter by the
 * error type, as the tutorial does, where the store has one of that type; the fused ranking is of
 * all records, and the error type is evidence.
 */
export async function rank(
  method: Method,
  each: Case,
  stored: StoredCorpus,
  model: RelevanceModel,
): Promise<string[]> {
  if (method === 'fused') {
    const candidates = (each.looks.at(-1) ?? []).map(({ candidate }) => candidate)
    const { judged } = await judge(each.asked, candidates, model)
    return judged.map(({ candidate }) => stored.fixOf(candidate.record.memory_id))
  }
  const search = only[method](each)
  const found = await candidates(stored.backend, each, search.vector)
  return found
    .filter((candidate) => search.by(candidate) > 0)
    .sort((a, b) => search.by(b) - search.by(a))
    .map(({ record }) => stored.fixOf(record.memory_id))
}

async function candidates(backend: MemoryBackend, { asked }: Case, vector: Float32Array) {
  const all = { scope: null, notBefore: null, vectors: [vector], limit: DEPTH }
  const text = asked.texts.join('\n')
  const ofType = await backend.candidates({ ...all, text, errorType: asked.errorType })
  return ofType.length > 0 ? ofType : backend.candidates({ ...all, text, errorType: null })
}
