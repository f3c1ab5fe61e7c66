import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { bundledModel, loadModel } from '../../services/embedder/model.ts'
import { errorKey } from '../../services/memory-store/error-key.ts'
import { dot } from '../../services/memory-store/unit-vector.ts'
import { normaliseSymptom } from '../../shared/symptom.ts'

/**
 * What the thresholds of near-duplicates stand on: how alike different fixes are, and how alike one
 * fix is that was told twice. `node test/bench/near-duplicates.ts`
 */
const pairs = z.array(z.tuple([z.string(), z.string()]))
const pairsSchema = z.object({ same_fix: pairs, other_fix: pairs })
const fixSchema = z.object({
  error_type: z.string(),
  symptom: z.string(),
  fix_description: z.string(),
})

const root = join(import.meta.dirname, '..')
const embed = await loadModel(bundledModel)
const cosine = async (one: string, other: string) => dot(await embed(one), await embed(other))

function print(name: string, values: number[]): void {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]?.toFixed(3)
  const line = `${name.padEnd(46)} n=${String(sorted.length).padEnd(5)}`
  process.stdout.write(`${line} least ${at(0)}  median ${at(0.5)}  most ${at(1)}\n`)
}

const text = await readFile(join(root, 'eval/corpus/fixes.jsonl'), 'utf8')
const lines = text.split('\n').filter((line) => line.trim() !== '')
const fixes: { key: string; vectors: readonly [Float32Array, Float32Array]; seenAgain: number }[] =
  []
for (const line of lines) {
  const { error_type, symptom, fix_description } = fixSchema.parse(JSON.parse(line))
  const vectors = [await embed(normaliseSymptom(symptom)), await embed(fix_description)] as const
  // Seen again: other lines, times, sizes and ids; where a number is part of the failure, it differs too.
  const again = symptom.replace(/\d/g, (digit) => String((Number(digit) + 3) % 10))
  const seenAgain = dot(vectors[0], await embed(normaliseSymptom(again)))
  fixes.push({ key: errorKey(error_type), vectors, seenAgain })
}
const apart = fixes.flatMap((one, i) =>
  fixes.slice(i + 1).flatMap((other) => {
    if (one.key !== other.key) return []
    return [[dot(one.vectors[0], other.vectors[0]), dot(one.vectors[1], other.vectors[1])] as const]
  }),
)
print(
  'different bugs, same error type: symptoms',
  apart.map(([symptom]) => symptom),
)
print(
  'different bugs, same error type: fixes',
  apart.map(([, fix]) => fix),
)
print(
  'different bugs, same error type: the lesser',
  apart.map((both) => Math.min(...both)),
)
print(
  'one symptom, with all its numbers changed',
  fixes.map(({ seenAgain }) => seenAgain),
)

const told = pairsSchema.parse(
  JSON.parse(await readFile(join(root, 'fixtures/memory/fix-pairs.json'), 'utf8')),
)
const all = (set: [string, string][]) => Promise.all(set.map(([a, b]) => cosine(a, b)))
print('the same fix, told twice', await all(told.same_fix))
print('another fix of the same test, in like words', await all(told.other_fix))
