import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { z } from 'zod'
import { bundledModel, loadTokenizer } from '../../services/embedder/model.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'

/**
 * Why the embedder takes one text at a time: what a padded batch does to the vectors of the
 * reference texts, and what it gains in speed. Sorted by length, so that padding is small.
 */
const print = (line: string) => process.stdout.write(`${line}\n`)
const golden = z
  .object({ texts: z.array(z.object({ text: z.string() })) })
  .parse(
    JSON.parse(readFileSync(join(import.meta.dirname, '..', 'golden', 'embeddings.json'), 'utf8')),
  )
const tokenize = loadTokenizer(bundledModel)
const rows = golden.texts.map(({ text }) => tokenize(text)).toSorted((a, b) => a.length - b.length)
const weights = join(bundledModel, 'onnx', 'model_quantized.onnx')

async function vectorsOf(session: InferenceSession, batch: (typeof rows)[number][]) {
  const width = Math.max(...batch.map((row) => row.length))
  const tensor = (value: (id: number | undefined) => bigint) => {
    const cells = batch.flatMap((row) => Array.from({ length: width }, (_, at) => value(row[at])))
    return new Tensor('int64', BigInt64Array.from(cells), [batch.length, width])
  }
  const { last_hidden_state: output } = await session.run({
    input_ids: tensor((id) => BigInt(id ?? 0)),
    attention_mask: tensor((id) => (id === undefined ? 0n : 1n)),
    token_type_ids: tensor(() => 0n),
  })
  const states = output?.data as Float32Array
  return batch.map((row, index) => {
    const sum = new Float64Array(DIMENSIONS)
    const start = index * width * DIMENSIONS
    for (let at = 0; at < row.length * DIMENSIONS; at += 1) {
      sum[at % DIMENSIONS] = (sum[at % DIMENSIONS] ?? 0) + (states[start + at] ?? 0)
    }
    const length = Math.hypot(...sum)
    return sum.map((value) => value / length)
  })
}

async function inBatchesOf(session: InferenceSession, size: number) {
  const vectors: Float64Array[] = []
  const started = performance.now()
  for (let at = 0; at < rows.length; at += size) {
    vectors.push(...(await vectorsOf(session, rows.slice(at, at + size))))
  }
  return { vectors, rate: (rows.length * 1000) / (performance.now() - started) }
}

const session = await InferenceSession.create(weights, { intraOpNumThreads: 1 })
await inBatchesOf(session, 1)
const alone = await inBatchesOf(session, 1)
print('| batch | texts/s, one thread | cosine with the vector of the text alone: mean | lowest |')
print('|---|---|---|---|')
for (const size of [1, 2, 4, 8, 16, 32]) {
  const { vectors, rate } = await inBatchesOf(session, size)
  const cosines = vectors.map((vector, index) =>
    vector.reduce((sum, value, at) => sum + value * (alone.vectors[index]?.[at] ?? 0), 0),
  )
  const mean = cosines.reduce((a, b) => a + b) / cosines.length
  print(
    `| ${size} | ${Math.round(rate)} | ${mean.toFixed(4)} | ${Math.min(...cosines).toFixed(4)} |`,
  )
}
