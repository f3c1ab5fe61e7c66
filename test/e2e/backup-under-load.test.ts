import { readdirSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readProjectAmounts } from '../../shared/contracts/ledger.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { askMemory } from '../../shared/queue/ask-memory.ts'
import { projects } from '../chaos/projects.ts'
import {
  closeSession,
  endSession,
  enqueue,
  openSession,
  removeSession,
  type Session,
  untilQuiet,
} from '../chaos/session.ts'
import { runAstra, startAstra } from '../support/cli.ts'
import { sampleEvidence, samplePayload } from '../support/memory.ts'

/** Real runs, stores one after another, and backups, on a machine that may be busy. */
const LIMIT_MS = 900_000
const BACKUPS = 3

let session: Session
let folder: string
/** How many stores were acknowledged, and how many were asked for. */
let acknowledged = 0
let asked = 0
let storing: Promise<void>
const stop = new AbortController()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-backups-'))
  session = await openSession('backups', {}, AbortSignal.timeout(LIMIT_MS))
  for (const [i, project] of [...projects, ...projects].entries()) {
    await enqueue(session, `load-${i}`, project)
  }
  storing = storeOneAfterAnother()
}, LIMIT_MS)

afterAll(async () => {
  stop.abort()
  await storing?.catch(() => {})
  await endSession(session)
  await removeSession(session)
  await rm(folder, { recursive: true, force: true })
})

async function storeOneAfterAnother(): Promise<void> {
  const key = loadSigningKey(session.astra.home)
  while (!stop.signal.aborted) {
    const n = asked
    asked += 1
    const payload = samplePayload(key, `stored-${n}`, { fix_description: `Repair number ${n}` })
    const texts = [sampleEvidence.symptom, `Repair number ${n}`]
    const result = await askMemory(session.producer, 'store', payload, {
      texts,
      timeoutMs: 120_000,
    })
    expect(result.stored).toBe(true)
    acknowledged += 1
  }
}

type Moment = { acknowledged: number; asked: number; settled: number }

async function moment(): Promise<Moment> {
  const { settled } = await readProjectAmounts(session.redis, 'notional')
  return { acknowledged, asked, settled }
}

/** What is in a restored store, by plain SQL. */
function readStore(home: string) {
  const db = new DatabaseSync(join(home, 'memory', 'memory.db'), { readOnly: true })
  try {
    const sessions = db.prepare('SELECT session_id FROM memories').all()
    return {
      integrity: db.prepare('PRAGMA integrity_check').all(),
      stored: sessions
        .flatMap(({ session_id }) => /^stored-(\d+)$/.exec(String(session_id))?.[1] ?? [])
        .map(Number)
        .sort((a, b) => a - b),
      ids: new Set(
        db
          .prepare('SELECT memory_id FROM memories')
          .all()
          .map((row) => String(row.memory_id)),
      ),
    }
  } finally {
    db.close()
  }
}

const person = (name: string) => ({ home: folder, env: { ASTRA_HOME: join(folder, name) } })

describe('backups while runs and stores go on', () => {
  it(
    'are each of one moment, and a home that they are restored into says what was so at that moment',
    async () => {
      const taken: { file: string; before: Moment; after: Moment; settled: number }[] = []
      for (let n = 0; n < BACKUPS; n += 1) {
        const file = join(folder, `backup-${n}.tar.zst`)
        const before = await moment()
        const result = await session.astra.cli(['backup', file, '--json'])
        expect(result).toMatchObject({ code: 0 })
        const { notional } = JSON.parse(result.stdout).spent
        expect((await stat(file)).mode & 0o777).toBe(0o600)
        taken.push({ file, before, after: await moment(), settled: notional.settled })
      }
      stop.abort()
      await storing
      expect(readdirSync(folder).filter((name) => !name.startsWith('backup-'))).toEqual([])

      for (const [n, { file, before, after, settled }] of taken.entries()) {
        const name = `restored-${n}`
        const restored = await runAstra(['restore', file, '--json'], person(name))
        expect(restored).toMatchObject({ code: 0 })
        const said = JSON.parse(restored.stdout)
        const home = join(folder, name)

        const { integrity, stored, ids } = readStore(home)
        expect(integrity).toEqual([{ integrity_check: 'ok' }])
        expect(stored).toEqual(stored.map((_, i) => i))
        expect(stored.length).toBeGreaterThanOrEqual(before.acknowledged)
        expect(stored.length).toBeLessThanOrEqual(after.asked)
        expect(said.counts.records).toBe(ids.size)

        // Evidence is read last: it may know of more than the ledger knew.
        expect(settled).toBeGreaterThanOrEqual(before.settled)
        expect(said.spent.notional.settled).toBeGreaterThanOrEqual(settled)
        expect(said.spent.notional.settled).toBeLessThanOrEqual(after.settled)

        const verified = await runAstra(['memory', 'verify', '--json'], person(name))
        expect(verified).toMatchObject({ code: 0 })
        expect(JSON.parse(verified.stdout)).toMatchObject({ proved: ids.size })
        const cost = await runAstra(['cost', '--json'], person(name))
        expect(JSON.parse(cost.stdout).notional.project).toMatchObject({
          settled_microusd: said.spent.notional.settled,
        })
        const runs = await runAstra(['runs', '--json'], person(name))
        for (const run of JSON.parse(runs.stdout).runs) {
          expect(run.ended_at).not.toBe(null)
          if (run.stored_memory_id !== null) expect(ids).toContain(run.stored_memory_id)
        }
      }

      expect(await untilQuiet(session, 300)).toEqual([])
      await closeSession(session)
    },
    LIMIT_MS,
  )

  it(
    'leave nothing when they are interrupted, and the backup of before as it was',
    async () => {
      const file = join(folder, 'backup-0.tar.zst')
      const { ino, size } = await stat(file)
      const before = readdirSync(folder).sort()
      const astra = startAstra(['backup', file], person('restored-0'))
      await astra.says('all services are ready')
      astra.kill('SIGINT')
      expect(await astra.result).toMatchObject({ code: 130 })
      expect(readdirSync(folder).sort()).toEqual(before)
      expect(await stat(file)).toMatchObject({ ino, size })
    },
    LIMIT_MS,
  )
})
