import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { proofProblem } from '../../services/memory-store/proof.ts'
import { migrations } from '../../services/memory-store/sqlite/migrations.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { productRoot } from '../../shared/config.ts'
import { STORE_SCHEMA } from '../../shared/contracts/store-schema.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import { seededVector } from '../support/memory.ts'
import { oldSchemas, placeOldStore } from '../support/old-stores.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'astra-migrations-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const everything = { errorType: null, scope: null, notBefore: null }

/** All that a memory of the fixtures has to say, whichever schema it had. */
async function tell(file: string) {
  const store = openSqliteBackend({ file, dimensions: DIMENSIONS })
  try {
    const { entries } = await store.scan(null, 100, { vectors: true })
    const trusted = loadTrustedKeys(home)
    const found = await store.candidates({
      ...everything,
      vectors: [seededVector(2, DIMENSIONS)],
      text: 'undefined parseUserName',
      limit: 5,
    })
    const byLexical = found.toSorted((a, b) => b.lexical - a.lexical)
    const byCosine = found.toSorted((a, b) => b.cosine.symptom - a.cosine.symptom)
    return {
      records: entries.map(({ record }) => record),
      vectors: entries.map(({ vectors }, i) => [
        vectors?.symptom.every((value, j) => value === seededVector(2 * i, DIMENSIONS)[j]),
        vectors?.fix.every((value, j) => value === seededVector(2 * i + 1, DIMENSIONS)[j]),
      ]),
      problems: entries.map(
        ({ record }) => record && (proofProblem(record, trusted)?.reason ?? null),
      ),
      live: await store.countLive(everything),
      found: found.length,
      byWords: byLexical[0]?.record.session_id,
      byVector: [byCosine[0]?.record.session_id, byCosine[0]?.cosine.symptom],
      inRepository: await store.countOfRepository('repository-2'),
      succeeded: await store.supersededBy(entries[4]?.memory_id ?? ''),
    }
  } finally {
    await store.close()
  }
}

function receiptsUsed(file: string) {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return db.prepare('SELECT count(*) AS n FROM receipts').get()?.n
  } finally {
    db.close()
  }
}

it('has a fixture of every schema before the present one', () => {
  expect(migrations).toHaveLength(STORE_SCHEMA)
  expect(oldSchemas).toEqual(Array.from({ length: STORE_SCHEMA - 1 }, (_, i) => i + 1))
})

/** Receipts of the first two programs said too little to be believed: their records stay, unproved. */
function problemOf(schema: number): string | null {
  if (schema === 1) return 'no_receipt'
  return schema === 2 ? 'altered_receipt' : null
}

describe.each(oldSchemas)('a memory that a program with schema %i left', (schema) => {
  it('is opened with all its records, counters, receipts and revocations, and is searched', async () => {
    const file = placeOldStore(home, schema)
    const told = await tell(file)
    expect(told.records.map((record) => record?.session_id)).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => `run-${n}`),
    )
    expect(told.records.map((record) => record?.shown)).toEqual([2, 1, 0, 0, 0, 0])
    expect(told.records[0]?.confirmed).toBe(schema < 3 ? 0 : 1)
    expect(told.records[2]?.revoked_at).toBe('2026-11-02T00:00:00Z')
    expect(told.records[5]?.superseded_by).toBe(told.records[4]?.memory_id)
    expect(told.vectors).toEqual(Array(6).fill([true, true]))
    const proved = problemOf(schema)
    expect(told.problems).toEqual([proved, expect.anything(), proved, 'no_receipt', proved, proved])
    expect(told).toMatchObject({
      live: 4,
      found: 4,
      byWords: 'run-1',
      byVector: ['run-2', expect.closeTo(1)],
      inRepository: 1,
      succeeded: [told.records[5]?.memory_id],
    })
    expect(receiptsUsed(file)).toBe(6)
  })

  it('is opened after a migration was killed between any two of its steps, as if it had not begun', async () => {
    const undisturbed = await tell(placeOldStore(home, schema))
    rmSync(join(home, 'memory'), { recursive: true })
    const file = placeOldStore(home, schema)
    for (let until = schema + 1; until <= STORE_SCHEMA; until += 1) {
      const script = join(productRoot, 'test/support/killed-migration.ts')
      const args = [script, file, String(until), String(DIMENSIONS)]
      expect(spawnSync(process.execPath, args, { stdio: 'inherit' }).signal).toBe('SIGKILL')
    }
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
    expect(await tell(file)).toEqual(undisturbed)
  })
})
