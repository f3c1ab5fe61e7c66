import { DatabaseSync } from 'node:sqlite'

/**
 * A lock that its holder's death releases, however it died: SQLite's own file lock (Node has no
 * flock). Returns null when another process has it.
 */
export function takeLock(path: string): { release(): void } | null {
  const db = new DatabaseSync(path)
  try {
    db.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (error instanceof Error && /locked|busy/i.test(error.message)) return null
    throw error
  }
  return { release: () => db.close() }
}
