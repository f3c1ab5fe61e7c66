import {
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'

/** A log that has more is put aside. */
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

/**
 * Puts large logs aside while their processes go on writing: those append, so an emptied file is
 * continued from its start. What is written between the copy and the emptying is lost.
 */
export function putLargeLogsAside(logs: string, maxBytes: number = MAX_BYTES): void {
  for (const name of readdirSync(logs).filter((each) => each.endsWith('.log'))) {
    const file = join(logs, name)
    if (statSync(file).size <= maxBytes) continue
    copyFileSync(file, `${file}.1`)
    truncateSync(file)
  }
}
