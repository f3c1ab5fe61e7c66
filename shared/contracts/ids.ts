import { createHash, randomBytes } from 'node:crypto'
import { v5 as uuidv5 } from 'uuid'
import { z } from 'zod'

/** A run id is also the session id of the records that the run stores, and a folder name. */
export const runIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'a run id is 1 to 64 letters, digits, ".", "_" or "-" and starts with a letter or digit',
  )
  .refine((id) => !/^\d+$/.test(id), 'a run id may not be digits alone')

export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/)

/** A new run id: the UTC time, so that folders sort, and 24 random bits. */
export function newRunId(now: Date): string {
  const stamp = now.toISOString().replace(/[-:]/g, '').slice(0, 15).replace('T', '-')
  return `run-${stamp}-${randomBytes(3).toString('hex')}`
}

/**
 * A deterministic job id. BullMQ allows neither ":" nor digits alone, and a foreign call_id may
 * hold anything, so the parts are hashed.
 */
export function jobIdOf(kind: string, ...parts: string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${kind}-${digest.slice(0, 32)}`
}

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/**
 * The id of a memory record: UUIDv5 (RFC 9562) over the URL namespace and the record's identity,
 * joined by line feeds. A repeated store has the same id, so it updates instead of adding.
 */
export function memoryIdOf(record: {
  session_id: string
  fix_description: string
  error_type: string
  outcome: string
  file_paths: readonly string[]
}): string {
  const { session_id, fix_description, error_type, outcome, file_paths } = record
  const name = [session_id, fix_description, error_type, outcome, ...file_paths].join('\n')
  return uuidv5(name, uuidv5.URL)
}
