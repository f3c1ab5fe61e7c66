import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { bundledModel, loadTokenizer } from '../../services/embedder/model.ts'

const golden = (name: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, '..', 'golden', name), 'utf8'))
const ids = z.array(z.number())
const embeddings = z
  .object({ texts: z.array(z.object({ text: z.string(), input_ids: ids })).length(196) })
  .parse(golden('embeddings.json'))
const hard = z
  .object({
    texts: z.array(
      z.object({
        title: z.string(),
        parts: z.array(z.tuple([z.string(), z.number()])),
        input_ids: ids,
      }),
    ),
  })
  .parse(golden('token-ids.json'))

const tokenize = loadTokenizer(bundledModel)

describe('token ids', () => {
  it('are those of sentence-transformers for every reference text', () => {
    const different = embeddings.texts.filter(
      ({ text, input_ids }) => JSON.stringify(tokenize(text)) !== JSON.stringify(input_ids),
    )
    expect(different.map(({ text }) => text)).toEqual([])
  })

  it.each(hard.texts)('are those of the reference: $title', ({ parts, input_ids }) => {
    expect(tokenize(parts.map(([part, times]) => part.repeat(times)).join(''))).toEqual(input_ids)
  })

  it('end with [SEP] and are at most 256', () => {
    const long = tokenize('word '.repeat(1000))
    expect(long).toHaveLength(256)
    expect([long.at(0), long.at(-1)]).toEqual([101, 102])
  })

  it('of half a surrogate pair are those of the text without it', () => {
    expect(tokenize('a \ud83d b\udc00c')).toEqual(tokenize('a  bc'))
    expect(tokenize('\ud83d')).toEqual([101, 102])
  })

  it('of a very long text do not depend on what follows the 256th', () => {
    const opening = 'the scheduler skipped every region. '.repeat(100)
    expect(tokenize(`${opening}${'then it stopped. '.repeat(10_000)}`)).toEqual(tokenize(opening))
  })
})
