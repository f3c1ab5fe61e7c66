import type { MemoryBackend } from '../backend.ts'
import { openSqliteBackend } from './sqlite-backend.ts'
import { storeFault } from './store-fault.ts'

/** A connection, and how many calls are under way on it. */
type Opened = { backend: MemoryBackend; calls: number; retired: boolean }

/**
 * The embedded store as long as its file can be used. Its calls throw UnavailableError while the disk
 * is full, read-only or gone, and MemoryDatabaseError when the file is damaged or not ours; later calls
 * try again, over a new connection where the old one would not get well by itself.
 */
export function createSqliteBackend(options: {
  file: string
  dimensions: number
}): MemoryBackend & { reach(): Promise<void> } {
  let current: Opened | undefined

  async function using<T>(work: (backend: MemoryBackend) => Promise<T>): Promise<T> {
    let opened: Opened | undefined
    try {
      current ??= { backend: openSqliteBackend(options), calls: 0, retired: false }
      opened = current
      opened.calls += 1
      return await work(opened.backend)
    } catch (error) {
      const fault = storeFault(error, options.file)
      if (fault?.reopen && opened) retire(opened)
      throw fault?.error ?? error
    } finally {
      if (opened) await release(opened)
    }
  }

  function retire(opened: Opened): void {
    opened.retired = true
    if (current === opened) current = undefined
  }

  /** Others may still read over it. */
  async function release(opened: Opened): Promise<void> {
    opened.calls -= 1
    if (opened.retired && opened.calls === 0) await opened.backend.close()
  }

  return {
    reach: () => using(async () => {}),
    upsert: (record, vectors) => using((store) => store.upsert(record, vectors)),
    candidates: (query) => using((store) => store.candidates(query)),
    countLive: (filter) => using((store) => store.countLive(filter)),
    countOfRepository: (id) => using((store) => store.countOfRepository(id)),
    count: (ids, counter, key, by) => using((store) => store.count(ids, counter, key, by)),
    setRevoked: (which, at) => using((store) => store.setRevoked(which, at)),
    supersede: (ids, by) => using((store) => store.supersede(ids, by)),
    supersededBy: (id) => using((store) => store.supersededBy(id)),
    get: (id) => using((store) => store.get(id)),
    list: (page) => using((store) => store.list(page)),
    scan: (after, limit, vectors) => using((store) => store.scan(after, limit, vectors)),
    delete: (id) => using((store) => store.delete(id)),
    async close() {
      await current?.backend.close()
    },
  }
}
