import type { DatabaseSync } from 'node:sqlite'
import { createPace, type Pace } from '../pace.ts'
import { TopRows } from './scan/top-rows.ts'
import { createTermChooser } from './term-counts.ts'

/** A name in the error type says more than one in the log around it. */
const BM25 = 'bm25(memory_text, 2.0, 1.0, 1.0)'
/** Rows that are passed over between two looks at the clock. */
const ROWS_BETWEEN_LOOKS = 64

type WordQuery = {
  text: string
  /** How many records there are. */
  total: number
  matches: (id: number) => boolean
  limit: number
  pace: Pace
}

/**
 * Finds by words. One search at a time: `reader` is a connection for this alone. The query calls back
 * with each row and returns one only when other work is due, so that it can wait there: a score is made
 * for nothing that does not match, and no row is built for what is thousands of times thrown away.
 */
export function createWordFinder(reader: DatabaseSync) {
  const termsToLookUp = createTermChooser(reader)
  let matches: (id: number) => boolean = () => false
  let best = new TopRows(0)
  let pace = createPace()
  let passed = 0
  const isDue = () => {
    passed += 1
    return passed % ROWS_BETWEEN_LOOKS === 0 && pace.isDue ? 1 : 0
  }
  reader.function('fits', (id) => (matches(Number(id)) ? 1 : 0))
  reader.function('is_due', isDue)
  reader.function('take', (id, score) => {
    best.add(Number(id), Number(score))
    return isDue()
  })
  const visit = reader.prepare(`
    SELECT 1 FROM memory_text WHERE memory_text MATCH ?
      AND CASE WHEN fits(rowid) THEN take(rowid, -${BM25}) ELSE is_due() END`)

  return {
    /** BM25 of the best records that match, by id. */
    async best(query: WordQuery): Promise<Map<number, number>> {
      pace = query.pace
      const terms = await termsToLookUp(query.text, query.total, pace)
      if (terms.length === 0) return new Map()
      matches = query.matches
      best = new TopRows(query.limit)
      const anyOf = terms.map((term) => `"${term}"`).join(' OR ')
      for (const _stop of visit.iterate(anyOf)) await pace.breathe()
      return new Map(best.sorted().map(({ row, score }) => [row, score]))
    },
  }
}
