import { z } from 'zod'

/** Dimensions of all-MiniLM-L6-v2 and so of every vector in the system. */
export const DIMENSIONS = 384

/** A vector in a payload: base64 of 384 little-endian float32, 2 KB instead of 8 KB of digits. */
export const encodedVectorSchema = z
  .base64()
  .refine(
    (text) => Buffer.byteLength(text, 'base64') === DIMENSIONS * 4,
    `a vector must hold ${DIMENSIONS} float32 values`,
  )

export function encodeVector(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
}

export function decodeVector(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64')
  return new Float32Array(new Uint8Array(bytes).buffer)
}
