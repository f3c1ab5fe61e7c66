import { backup, DatabaseSync } from 'node:sqlite'
import { UnavailableError } from '../../../shared/errors.ts'

/** Pages of one step, about 8 MB: between two steps an interrupt is seen. */
const PAGES = 2_000
const BUSY_MS = 5_000

export type StoreCopy = { records: number; schema: number; at: string }

/**
 * Copies the embedded store as it is at one moment, while its memory-store reads and writes. It is
 * read over a connection of this process that can only read, and in another thread: no process
 * that serves anybody waits for it. Its open transaction is the moment; without one a copy would begin
 * anew with each write. Throws UnavailableError when the file cannot be read or is damaged.
 */
export async function copyStore(
  file: string,
  copy: string,
  { interrupted, onProgress }: { interrupted: AbortSignal; onProgress(share: number): void },
): Promise<StoreCopy> {
  const store = openToRead(file)
  try {
    store.exec('BEGIN')
    const records = Number(store.prepare('SELECT count(*) AS n FROM memories').get()?.n)
    const schema = Number(store.prepare('PRAGMA user_version').get()?.user_version)
    const at = new Date().toISOString()
    await backup(store, copy, {
      rate: PAGES,
      progress: ({ totalPages, remainingPages }) => {
        interrupted.throwIfAborted()
        onProgress(1 - remainingPages / totalPages)
      },
    })
    return { records, schema, at }
  } catch (cause) {
    interrupted.throwIfAborted()
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new UnavailableError(`the memory ${file} cannot be copied: ${why}`, { cause })
  } finally {
    store.close()
  }
}

function openToRead(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS })
  } catch (cause) {
    throw new UnavailableError(`the memory ${file} cannot be opened`, {
      hint: 'a backup is taken on the machine of the memory-store, with its ASTRA_HOME',
      cause,
    })
  }
}

/** What is wrong with a copy of the store, or null. A copy is nobody else's: it is looked at as a whole. */
export function storeProblem(copy: string): string | null {
  const db = new DatabaseSync(copy)
  try {
    // One file, without a log beside it.
    db.exec('PRAGMA journal_mode = DELETE')
    const [first] = db.prepare('PRAGMA quick_check(1)').all()
    const said = String(Object.values(first ?? {})[0] ?? 'SQLite says nothing')
    return said === 'ok' ? null : said
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    db.close()
  }
}

/** Whether a copy of the store holds that record. */
export function holdsRecord(copy: string, memoryId: string): boolean {
  const db = new DatabaseSync(copy, { readOnly: true })
  try {
    return db.prepare('SELECT 1 FROM memories WHERE memory_id = ?').get(memoryId) !== undefined
  } finally {
    db.close()
  }
}
