import { mkdirSync, openSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** A log that has more is put aside when its process starts. */
const MAX_BYTES = 10_000_000

/**
 * Opens the log of a process that starts, to be appended to. A large one becomes `NAME.log.1`, in the
 * place of an older one, so that both together have an end.
 */
export function openLogFile(logs: string, name: string, maxBytes: number = MAX_BYTES): number {
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  const file = join(logs, `${name}.log`)
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > maxBytes) renameSync(file, `${file}.1`)
  return openSync(file, 'a', 0o600)
}
