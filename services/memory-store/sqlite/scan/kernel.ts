import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const PAGE_BYTES = 65_536

export type Memory = { readonly buffer: ArrayBuffer; grow(pages: number): number }

// The types of Node leave WebAssembly to those of browsers.
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Memory: new (size: { initial: number }) => Memory
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> }
}

/** Cosines of rounded vectors in one memory; `dot.wat` is its source, and says what is what. */
export type Kernel = {
  memory: Memory
  raise(
    from: number,
    count: number,
    query: number,
    worth: number,
    out: number,
    length: number,
  ): void
}

let compiled: object | undefined

export function createKernel(): Kernel {
  compiled ??= new WebAssembly.Module(readFileSync(join(import.meta.dirname, 'dot.wasm')))
  const memory = new WebAssembly.Memory({ initial: 1 })
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory } })
  return { memory, raise: exports.raise as Kernel['raise'] }
}

/** Makes room for `bytes` bytes in all. Views of the memory have to be made anew after it. */
export function growTo(memory: Memory, bytes: number): void {
  const missing = bytes - memory.buffer.byteLength
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES))
}
