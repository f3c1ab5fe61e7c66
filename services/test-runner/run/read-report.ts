import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { RawReport } from './report.ts'

/** It is parsed at one go, and the job's lock has to be renewed meanwhile. */
const MAX_REPORT_BYTES = 32_000_000

/**
 * The text of a report file, or null when there is none. The tests could have put anything in its
 * place: a link, a pipe, a file without end.
 */
export async function readReport(path: string): Promise<RawReport['file']> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await open(path, flags).catch(() => null)
  if (!handle) return null
  try {
    const found = await handle.stat()
    // It is there before the tests run: one without contents was not written.
    const isUsable = found.isFile() && found.size > 0 && found.size <= MAX_REPORT_BYTES
    return isUsable ? await handle.readFile('utf8') : null
  } finally {
    await handle.close()
  }
}
