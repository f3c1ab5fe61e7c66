import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import wabt from 'wabt'
import { RoundedVectors } from '../../services/memory-store/sqlite/scan/rounded-vectors.ts'
import { dot } from '../../services/memory-store/unit-vector.ts'
import { productRoot } from '../../shared/config.ts'
import { seededVector } from '../support/memory.ts'

const scan = join(productRoot, 'services/memory-store/sqlite/scan')

it('runs what its source says', async () => {
  const { parseWat } = await wabt()
  const source = parseWat('dot.wat', await readFile(join(scan, 'dot.wat'), 'utf8'), { simd: true })
  const { buffer } = source.toBinary({})
  expect(Buffer.from(buffer).equals(await readFile(join(scan, 'dot.wasm')))).toBe(true)
})

it.each([3, 32, 40, 384])(
  'gives the cosines of vectors of %i components up to their rounding',
  (dimensions) => {
    const vector = (seed: number) => seededVector(seed, dimensions)
    const vectors = new RoundedVectors(dimensions)
    vectors.grow(50)
    for (let slot = 0; slot < 50; slot += 1) vectors.set(slot, [vector(slot), vector(100 + slot)])
    const slots = Int32Array.of(0, 1, 2, 7, 49)
    const queries = [vector(200), vector(201)]
    const nearest = (own: Float32Array) => Math.max(...queries.map((query) => dot(query, own)))
    const exact = [...slots].flatMap((slot) => [vector(slot), vector(100 + slot)].map(nearest))
    const found = vectors.cosines(slots, queries)
    const errors = exact.map((cosine, at) => Math.abs(cosine - (found[at] ?? Number.NaN)))
    expect(Math.max(...errors)).toBeLessThan(vectors.blur(queries) / 2)
    expect(vectors.blur(queries)).toBeLessThan(0.1)
  },
)
