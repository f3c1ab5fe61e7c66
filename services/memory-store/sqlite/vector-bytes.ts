/** A vector as it is stored: its float32 values in the machine's own (little-endian) order. */
export function vectorBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}

/** The vector of such bytes, wherever they begin. */
export function vectorOf(bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset, byteLength } = bytes
  const isAligned = byteOffset % Float32Array.BYTES_PER_ELEMENT === 0
  return isAligned
    ? new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT)
    : new Float32Array(bytes.slice().buffer)
}
