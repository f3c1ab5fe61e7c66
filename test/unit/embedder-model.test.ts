import { cp, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { embedTexts } from '../../services/embedder/embed-texts.ts'
import { bundledModel, type Embed, loadModel } from '../../services/embedder/model.ts'
import { decodeVector, encodedVectorSchema } from '../../shared/contracts/vector.ts'
import { ConfigError } from '../../shared/errors.ts'

const goldenSchema = z.object({
  texts: z.array(z.object({ kind: z.string(), text: z.string(), vector: encodedVectorSchema })),
})

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
}

let embed: Embed
beforeAll(async () => {
  embed = await loadModel(bundledModel)
})

describe('vectors', () => {
  it('are near those of sentence-transformers for every reference text', async () => {
    const file = join(import.meta.dirname, '..', 'golden', 'embeddings.json')
    const { texts } = goldenSchema.parse(JSON.parse(await readFile(file, 'utf8')))
    const cosines: number[] = []
    for (const { text, vector } of texts) {
      cosines.push(cosine(await embed(text), decodeVector(vector)))
    }
    expect(cosines).toHaveLength(196)
    expect(Math.min(...cosines)).toBeGreaterThanOrEqual(0.97)
    expect(cosines.reduce((a, b) => a + b) / cosines.length).toBeGreaterThanOrEqual(0.985)
  })

  it.each([
    ['empty text', ''],
    ['blank text', ' \n\t '],
    ['100,000 letters', 'a'.repeat(100_000)],
    ['100,000 characters of words', 'rejects the upload, '.repeat(5000)],
    ['100,000 emoji', '😀'.repeat(100_000)],
    ['half surrogate pairs', '\udc00 lost \ud83d'],
    ['a zero character', 'a\0b'],
    ['Arabic', 'فشل الاختبار'],
    ['Hindi', 'परीक्षण विफल'],
    ['Chinese', '测试失败'],
    ['Korean', '테스트 실패'],
    ['Thai', 'การทดสอบล้มเหลว'],
    ['emoji', '👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪'],
  ])('have unit length for %s', async (_, text) => {
    const vector = await embed(text)
    expect(vector).toHaveLength(384)
    expect(cosine(vector, vector)).toBeCloseTo(1, 5)
  })

  it('put a paraphrase nearer than another subject', async () => {
    const failure = await embed('TypeError: cannot read properties of undefined, reading trim')
    const same = await embed('undefined has no property trim, a TypeError was thrown')
    const other = await embed('the invoice total is rounded to the wrong cent')
    expect(cosine(failure, same)).toBeGreaterThan(cosine(failure, other) + 0.3)
  })
})

describe('embedTexts', () => {
  const texts = ['first: a short one', `second: ${'a long one. '.repeat(60)}`, '', 'fourth']
  const signal = new AbortController().signal

  it('keeps the order of the texts', async () => {
    const { vectors } = await embedTexts({ texts }, { signal }, embed)
    const alone = await Promise.all(texts.map(embed))
    expect(vectors.map(decodeVector)).toEqual(alone)
  })

  it('gives a text the same vector whatever is embedded beside it', async () => {
    const [together, alone] = await Promise.all([
      embedTexts({ texts }, { signal }, embed),
      embedTexts({ texts: texts.slice(3) }, { signal }, embed),
    ])
    expect(together.vectors.at(3)).toBe(alone.vectors.at(0))
  })

  it('lets a short job pass a long one', async () => {
    const ended: string[] = []
    const long = embedTexts({ texts: Array(20).fill('long') }, { signal }, embed)
    const short = embedTexts({ texts: ['short'] }, { signal }, embed)
    await Promise.all([long.then(() => ended.push('long')), short.then(() => ended.push('short'))])
    expect(ended).toEqual(['short', 'long'])
  })

  it('stops between two texts when its job is taken from it', async () => {
    const taken = new AbortController()
    const work = embedTexts({ texts: Array(64).fill('text') }, { signal: taken.signal }, embed)
    taken.abort(new Error('lost the lock of this job'))
    await expect(work).rejects.toThrow('lost the lock of this job')
  })
})

describe('loadModel', () => {
  const weights = join('onnx', 'model_quantized.onnx')
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'astra-model-'))
    await cp(bundledModel, folder, { recursive: true })
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function failure(): Promise<ConfigError> {
    const error = await loadModel(folder).catch((error: unknown) => error)
    if (error instanceof ConfigError) return error
    throw new Error(`not a ConfigError: ${error}`)
  }

  it('loads a model from another folder of the same layout', async () => {
    const elsewhere = await loadModel(folder)
    expect(await elsewhere('text')).toEqual(await embed('text'))
  })

  it.each(['tokenizer.json', 'tokenizer_config.json', weights])(
    'names the variable and the missing file %s',
    async (file) => {
      await rm(join(folder, file))
      const { message, hint } = await failure()
      expect(message).toBe(
        `the embedding model (EMBEDDING_MODEL_PATH) has no file ${join(folder, file)}`,
      )
      expect(hint).toContain('EMBEDDING_MODEL_PATH')
    },
  )

  it.each([
    ['tokenizer.json', '{"version":'],
    ['tokenizer.json', '{}'],
    [weights, 'version https://git-lfs.github.com/spec/v1'],
  ])('names the file %s when it holds %s', async (file, content) => {
    await writeFile(join(folder, file), content)
    const { message, cause } = await failure()
    expect(message).toContain(`${join(folder, file)} that cannot be used`)
    expect(cause).toBeInstanceOf(Error)
  })

  it('refuses weights that were cut off', async () => {
    await truncate(join(folder, weights), 1_000_000)
    expect((await failure()).message).toContain(weights)
  })
})
