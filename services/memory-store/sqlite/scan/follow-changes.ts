import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { createPace, type Pace } from '../../pace.ts'
import { vectorOf } from '../vector-bytes.ts'
import { VectorScan } from './vector-scan.ts'

/** Changes that are kept for those who follow; who is further behind reads all again. */
const CHANGES_KEPT = 10_000
/** Older ones are deleted so many at a time: a few milliseconds. */
const CHANGES_PRUNED = 5_000

const COLUMNS = 'id, symptom, fix, live, error_key, repository, group_name, confirmed_ms'

/** The vectors in memory, as the database has them at the moment, whoever wrote there. */
export type FollowedScan = { current(): Promise<VectorScan> }

/**
 * Keeps a copy of all vectors in memory. `vector_changes` names every row that was written, by this
 * connection or another process, and is looked at before each search. The first load begins at once.
 */
export function followChanges(
  db: DatabaseSync,
  openReader: () => DatabaseSync,
  dimensions: number,
): FollowedScan {
  const scan = new VectorScan(dimensions)
  const changes = {
    ends: db.prepare(`
      SELECT (SELECT min(seq) FROM vector_changes) AS first,
        (SELECT max(seq) FROM vector_changes) AS last`),
    after: db.prepare('SELECT DISTINCT id FROM vector_changes WHERE seq > ?'),
    prune: db.prepare('DELETE FROM vector_changes WHERE seq <= ?'),
  }
  const lastId = db.prepare('SELECT max(id) AS id FROM live_vectors')
  const rowOf = db.prepare(`SELECT ${COLUMNS} FROM live_vectors WHERE id = ?`)
  let seen = -1

  async function loadAll(): Promise<void> {
    const { last } = ends()
    const pace = createPace()
    scan.clear()
    scan.reserve(Number(lastId.get()?.id ?? 0))
    await pace.breathe()
    // Of its own: a connection that is reading cannot write what another process has overtaken.
    const reader = openReader()
    try {
      for (const row of reader.prepare(`SELECT ${COLUMNS} FROM live_vectors`).iterate()) {
        take(scan, row)
        if (pace.isDue) await pace.breathe()
        if (!db.isOpen) throw new Error('the memory was closed while its vectors were read')
      }
    } finally {
      reader.close()
    }
    seen = last
    await prune(last - CHANGES_KEPT, pace)
  }

  async function prune(until: number, pace: Pace): Promise<void> {
    for (let { first } = ends(); first > 0 && first < until; first += CHANGES_PRUNED) {
      await pace.breathe()
      try {
        changes.prune.run(Math.min(first + CHANGES_PRUNED, until))
      } catch {
        // A disk that is full or read-only is no reason to answer nothing; the next start prunes.
        return
      }
    }
  }

  function ends(): { first: number; last: number } {
    const { first, last } = changes.ends.get() ?? {}
    return { first: Number(first ?? 0), last: Number(last ?? 0) }
  }

  async function readChanged(): Promise<void> {
    const pace = createPace()
    for (const { id } of changes.after.all(seen)) {
      const row = rowOf.get(Number(id))
      if (row) take(scan, row)
      else scan.delete(Number(id))
      if (pace.isDue) await pace.breathe()
    }
  }

  async function catchUp(): Promise<VectorScan> {
    // Again until nothing was written meanwhile.
    for (let { first, last } = ends(); seen !== last; { first, last } = ends()) {
      const isTooFarBehind = seen < 0 || seen < first - 1 || seen > last
      if (isTooFarBehind) {
        await loadAll()
      } else {
        await readChanged()
        seen = last
      }
    }
    return scan
  }

  // One at a time: a search that comes while rows are loaded waits for them.
  let turn: Promise<VectorScan> = catchUp()
  // Whoever searches hears of it.
  turn.catch(() => {})
  return {
    current() {
      turn = turn.then(catchUp, catchUp)
      return turn
    },
  }
}

function take(scan: VectorScan, row: Record<string, SQLOutputValue>): void {
  scan.set(Number(row.id), {
    symptom: floats(row.symptom),
    fix: floats(row.fix),
    live: Number(row.live) === 1,
    errorKey: String(row.error_key),
    repository: String(row.repository),
    group: String(row.group_name),
    confirmedMs: Number(row.confirmed_ms),
  })
}

function floats(value: SQLOutputValue | undefined): Float32Array {
  if (!(value instanceof Uint8Array)) throw new Error('a vector of the store is no blob')
  return vectorOf(value)
}
