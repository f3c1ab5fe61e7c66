import { sha256 } from '../../shared/contracts/ids.ts'
import type { Case } from './store-corpus.ts'

/** Every case is in the test part of one fold; kinds are spread evenly, in an order by hash. */
export function foldsOf(
  cases: readonly Case[],
  count: number,
): { training: Case[]; test: Case[] }[] {
  const ordered = [...cases].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  return Array.from({ length: count }, (_, fold) => {
    const test = new Set(ordered.filter((__, index) => index % count === fold))
    return { test: [...test], training: cases.filter((each) => !test.has(each)) }
  })
}

function orderOf({ query }: Case): string {
  return `${query.kind} ${sha256(query.id)}`
}
