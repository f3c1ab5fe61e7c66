import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { addAbortSignal } from 'node:stream'
import { z } from 'zod'
import { memoryIdOf } from '../../../shared/contracts/ids.ts'
import { type Transferred, transferredSchema } from '../../../shared/contracts/memory-transfer.ts'
import { errorText, UsageError } from '../../../shared/errors.ts'

/** `line` counts from one. */
export type ReadLine =
  | { line: number; record: Transferred; bytes: number }
  | { line: number; problem: string }

/** The records of a file of JSON lines, or of stdin. Throws UsageError when it cannot be read. */
export async function* readRecords(
  file: string | null,
  interrupted: AbortSignal,
): AsyncGenerator<ReadLine> {
  const input = file === null ? process.stdin : createReadStream(file)
  addAbortSignal(interrupted, input)
  let line = 0
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      line += 1
      if (text.trim() !== '') yield { line, ...readRecord(text) }
    }
  } catch (cause) {
    interrupted.throwIfAborted()
    throw new UsageError(`cannot read ${file ?? 'stdin'}: ${errorText(cause)}`, { cause })
  }
}

function readRecord(text: string): { record: Transferred; bytes: number } | { problem: string } {
  const parsed = transferredSchema.safeParse(parsedJson(text))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const where = issue?.path.join('.') || 'the line'
    return {
      problem: `it is no record: ${where}: ${issue?.message ?? z.prettifyError(parsed.error)}`,
    }
  }
  const { data: record } = parsed
  if (memoryIdOf(record) !== record.memory_id) {
    return { problem: 'its id does not follow from what it says: it was altered, or is damaged' }
  }
  return { record, bytes: Buffer.byteLength(text) }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
