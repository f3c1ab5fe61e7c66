import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadCorpus } from '../eval/corpus.ts'
import { corpusFolder } from '../eval/corpus-folder.ts'
import { type Evaluation, evaluate } from '../eval/evaluate.ts'
import { type StoredCorpus, storeCorpus } from '../eval/store-corpus.ts'

/**
 * With the weights as they are, so that neither they nor the code they were fitted to change alone.
 * These are known data: what the search is worth on others is said by `npm run eval:retrieval -- --cv 5`.
 */
let stored: StoredCorpus
let measured: Evaluation

beforeAll(async () => {
  const corpus = await loadCorpus(corpusFolder)
  stored = await storeCorpus(corpus)
  measured = await evaluate(corpus, stored, { folds: null })
  // Twenty seconds of a whole processor.
}, 600_000)

afterAll(async () => {
  await stored?.close()
})

const shareOf = ({ hits, n }: { hits: number; n: number }) => hits / n

it('ranks the right fix among the first three, and before those of the same error type', () => {
  const { fused } = measured.methods
  expect(fused.all?.recall3).toBeGreaterThanOrEqual(0.97)
  expect(fused.all?.mrr10).toBeGreaterThanOrEqual(0.93)
  expect(fused['cross-language']?.recall3).toBeGreaterThanOrEqual(0.8)
  expect(shareOf(measured.pairwise)).toBeGreaterThanOrEqual(0.93)
})

it('shows the fix of a failure met again, and nothing for an unrelated one', () => {
  const shown = measured.answers.matched.map(({ kind, shown }) => [kind, shareOf(shown)])
  expect(Object.fromEntries(shown)).toEqual({
    recurrence: 1,
    transfer: expect.toSatisfy((share: number) => share >= 0.9),
    'cross-language': expect.any(Number),
  })
  const unrelated = measured.answers.unmatched.find(({ kind }) => kind === 'unrelated')
  expect(unrelated?.any.hits).toBeLessThanOrEqual(2)
  expect(unrelated?.same.hits).toBe(0)
})

it('calls a failure the same only where it seldom errs, and each that is met again', () => {
  const { matched, unmatched, samePrecision } = measured.answers
  expect(shareOf(samePrecision)).toBeGreaterThanOrEqual(0.93)
  expect(matched.find(({ kind }) => kind === 'recurrence')?.same.hits).toBeGreaterThanOrEqual(48)
  expect(matched.find(({ kind }) => kind === 'transfer')?.same.hits).toBeGreaterThanOrEqual(38)
  expect(unmatched.find(({ kind }) => kind === 'near_miss')?.same.hits).toBeLessThanOrEqual(5)
})
