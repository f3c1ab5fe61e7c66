import { createReadStream } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import { errorText, UsageError } from '../../shared/errors.ts'

type Limits = { maxBytes: number; interrupted: AbortSignal }

/** Reads a small text from a file or a pipe, `-`: stdin. Throws UsageError when it is none. */
export async function readText(path: string, limits: Limits): Promise<string> {
  return (await readBytes(path, limits)).toString('utf8')
}

/** As `readText`, for what may be no text. */
export async function readBytes(path: string, { maxBytes, interrupted }: Limits): Promise<Buffer> {
  const name = path === '-' ? 'stdin' : path
  const stream = path === '-' ? process.stdin : createReadStream(path)
  addAbortSignal(interrupted, stream)
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of stream) {
      length += chunk.length
      if (length > maxBytes) break
      chunks.push(chunk)
    }
  } catch (cause) {
    interrupted.throwIfAborted()
    throw new UsageError(`cannot read ${name}: ${errorText(cause)}`, { cause })
  }
  if (length <= maxBytes) return Buffer.concat(chunks)
  throw new UsageError(`${name} is too large: this takes ${maxBytes} bytes at most`)
}
