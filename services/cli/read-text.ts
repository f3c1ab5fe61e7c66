import { createReadStream } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import { errorText, UsageError } from '../../shared/errors.ts'

/** Reads a small text from a file or a pipe, `-`: stdin. Throws UsageError when it is none. */
export async function readText(
  path: string,
  { maxBytes, interrupted }: { maxBytes: number; interrupted: AbortSignal },
): Promise<string> {
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
  if (length <= maxBytes) return Buffer.concat(chunks).toString('utf8')
  throw new UsageError(`${name} is too large: this takes ${maxBytes} bytes at most`)
}
