/** A vector as sqlite-vec takes it: its float32 values in the machine's own (little-endian) order. */
export function vectorBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}

/** The vector of such bytes, wherever they begin. */
export function vectorOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer)
}
