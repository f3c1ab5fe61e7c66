import { MemoryValidationError } from '../../shared/errors.ts'

/** Rounding of float32 moves the length of a 384-dim unit vector by less than 1e-6. */
const TOLERANCE = 1e-3

/**
 * Distances become cosines only between unit vectors, so anything else is refused. Throws
 * MemoryValidationError that names the vector.
 */
export function requireUnitVector(name: string, vector: Float32Array, dimensions: number): void {
  if (vector.length !== dimensions) {
    throw new MemoryValidationError(
      `the ${name} vector must have ${dimensions} values and has ${vector.length}`,
    )
  }
  const length = Math.hypot(...vector)
  if (Math.abs(length - 1) <= TOLERANCE) return
  throw new MemoryValidationError(`the ${name} vector must have length 1 and has ${length}`)
}

/** Of unit vectors: their cosine. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return Math.max(-1, Math.min(1, sum))
}
