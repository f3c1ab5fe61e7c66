import type { DatabaseSync } from 'node:sqlite'
import type { Pace } from '../pace.ts'
import { rarestTerms, termsOf } from '../retrieval/terms.ts'

/** Terms of a query that are looked up: 20 common ones took ten times as long as the 8 rarest. */
const MAX_TERMS = 12
/** Documents of a term are counted up to here: the rarest of a long text have fewer. */
const FEW = 256
/** What is known of common terms is forgotten when this share of the records has come or gone. */
const DRIFT = 0.01

/**
 * Chooses the terms of a text that are looked up, as `rarestTerms` does by how many documents have
 * each. To count them all is most of the work of a search, so it is done for few: a common term is
 * known to be one, and how common it is matters only where a text has too few rare ones.
 */
export function createTermChooser(reader: DatabaseSync) {
  const few = reader.prepare(`
    SELECT count(*) AS n FROM (SELECT 1 FROM memory_text WHERE memory_text MATCH ? LIMIT ${FEW})`)
  const all = reader.prepare('SELECT doc AS n FROM memory_terms WHERE term = ?')
  /** Of common terms, with their counts where they were needed. */
  const common = new Map<string, number | null>()
  let knownAt = 0

  function countFew(term: string): number {
    if (common.has(term)) return FEW
    const documents = Number(few.get(`"${term}"`)?.n)
    if (documents === FEW) common.set(term, null)
    return documents
  }

  function countAll(term: string): number {
    const documents = common.get(term) ?? Number(all.get(term)?.n ?? FEW)
    common.set(term, documents)
    return documents
  }

  async function countEach(
    terms: Iterable<string>,
    { count, pace }: { count: (term: string) => number; pace: Pace },
  ): Promise<Map<string, number>> {
    const counts = new Map<string, number>()
    for (const term of terms) {
      counts.set(term, count(term))
      if (pace.isDue) await pace.breathe()
    }
    return counts
  }

  return async (text: string, total: number, pace: Pace): Promise<string[]> => {
    if (Math.abs(total - knownAt) > DRIFT * knownAt) {
      common.clear()
      knownAt = total
    }
    const terms = new Set(termsOf(text))
    const rarest = (counts: ReadonlyMap<string, number>) =>
      rarestTerms([...terms], { frequency: (term) => counts.get(term) ?? 0, total, max: MAX_TERMS })
    const bounded = await countEach(terms, { count: countFew, pace })
    const chosen = rarest(bounded)
    if (chosen.every((term) => !common.has(term))) return chosen
    const count = (term: string) => (common.has(term) ? countAll(term) : (bounded.get(term) ?? 0))
    return rarest(await countEach(terms, { count, pace }))
  }
}
