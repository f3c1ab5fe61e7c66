import { z } from 'zod'
import { sha256 } from '../../../shared/contracts/ids.ts'
import type { MemoryRecord } from '../../../shared/contracts/record.ts'
import type { RecordVectors } from '../backend.ts'
import { termWeights } from '../points/bm25.ts'

/** The vectors of a record's point: two dense ones, and its words as a sparse one. */
export function pointVectors(record: MemoryRecord, { symptom, fix }: RecordVectors) {
  const words = sparse(termWeights(record))
  return {
    symptom: [...symptom],
    fix: [...fix],
    ...(words.indices.length === 0 ? {} : { words }),
  }
}

/** Terms as indices. Two terms that share one, once in some billions, count as the same word. */
export function sparse(weights: Map<string, number>): { indices: number[]; values: number[] } {
  const values = new Map<number, number>()
  for (const [term, weight] of weights) {
    const index = Number.parseInt(sha256(term).slice(0, 8), 16)
    values.set(index, (values.get(index) ?? 0) + weight)
  }
  return { indices: [...values.keys()], values: [...values.values()] }
}

const vectorsSchema = z.object({ symptom: z.array(z.number()), fix: z.array(z.number()) })

/** Null for a point that lacks one of the two. */
export function readVectors(vector: unknown): RecordVectors | null {
  const parsed = vectorsSchema.safeParse(vector)
  return parsed.success
    ? { symptom: Float32Array.from(parsed.data.symptom), fix: Float32Array.from(parsed.data.fix) }
    : null
}
