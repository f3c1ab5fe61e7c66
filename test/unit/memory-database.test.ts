import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { load as loadSqliteVec } from 'sqlite-vec'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../../services/memory-store/sqlite/migrations.ts'
import { openDatabase, requireSqlite } from '../../services/memory-store/sqlite/open-database.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { vectorBytes } from '../../services/memory-store/sqlite/vector-bytes.ts'
import { productRoot } from '../../shared/config.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { sampleReceipt, sampleRecord, seededVector } from '../support/memory.ts'

let folder: string
let file: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-memory-'))
  file = join(folder, 'memory.db')
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

/** Every file of the folder with its bytes: what a refusal must leave as it was. */
function contents() {
  return readdirSync(folder)
    .sort()
    .map((name) => [name, readFileSync(join(folder, name)).toString('base64')])
}

describe('a file that cannot be used is refused and left as it was', () => {
  function expectRefusal(message: RegExp) {
    const before = contents()
    expect(() => openDatabase(file, 8)).toThrow(message)
    expect(contents()).toEqual(before)
  }

  it('a database of vectors of another dimension', () => {
    openDatabase(file, 16).close()
    expectRefusal(/memory\.db holds vectors of 16 dimensions and the embedding model makes 8/)
  })

  it('a database of a newer schema', () => {
    const db = openDatabase(file, 8)
    db.exec('PRAGMA user_version = 99')
    db.close()
    expectRefusal(/has schema version 99 and this program knows up to 7: update the program/)
  })

  it('a SQLite database of another program', () => {
    const foreign = new DatabaseSync(file)
    foreign.exec(
      'PRAGMA application_id = 7; CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)',
    )
    foreign.close()
    expectRefusal(/is a SQLite database of another program/)
  })

  it('a database of another program whose log has not been written back', () => {
    const foreign = new DatabaseSync(file)
    foreign.exec('PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)')
    try {
      expectRefusal(/is a SQLite database of another program/)
    } finally {
      foreign.close()
    }
  })

  it('a file that is no database', () => {
    writeFileSync(file, 'notes')
    expectRefusal(/is not a SQLite database/)
  })

  it('a database of ours that lost its end', () => {
    openDatabase(file, 8).close()
    truncateSync(file, 10_000)
    expectRefusal(/memory\.db cannot be opened: .*malformed/)
  })

  it('a folder in its place', () => {
    mkdirSync(file)
    expect(() => openDatabase(file, 8)).toThrow(/memory\.db cannot be opened: EISDIR/)
  })
})

/** A database of schema `version` with these records, written as programs of that time did. */
function oldDatabase(version: number, records: MemoryRecord[]): void {
  const db = new DatabaseSync(file, { allowExtension: true })
  loadSqliteVec(db)
  for (const step of migrations.slice(0, version)) db.exec(step(8))
  const insert = db.prepare(`
    INSERT INTO memories
      (memory_id, session_id, error_key, confirmed_ms, record, superseded_by, revoked_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)`)
  for (const [i, record] of records.entries()) {
    const { shown, confirmed, unconfirmed, group, merged, scrubbed, ...rest } = record
    const { superseded_by, revoked_at, ...stored } = rest
    const identity = [record.memory_id, record.session_id, record.error_type.toLowerCase()] as const
    const json = JSON.stringify(stored)
    insert.run(...identity, Date.parse(record.timestamp), json, superseded_by, revoked_at)
    db.prepare('INSERT INTO counters VALUES (?, ?)').run(i + 1, shown)
    const vector = vectorBytes(seededVector(i, 8))
    const live = revoked_at === null ? 1n : 0n
    db.prepare(
      'INSERT INTO memory_vectors (symptom, fix, error_key, live, id) VALUES (?, ?, ?, ?, ?)',
    ).run(vector, vector, record.error_type.toLowerCase(), live, BigInt(i + 1))
  }
  db.exec(`PRAGMA application_id = 0x41734d65; PRAGMA user_version = ${version}`)
  db.close()
}

it('makes records whose receipt has the first version unproved, and leaves others as they are', async () => {
  const odd = 'naïve — 修正\0 "quoted" \\ \n'
  const key = loadSigningKey(folder)
  const receipt = sampleReceipt(key, { run_id: 'run-old' })
  const first = { ...receipt, body: { ...receipt.body, version: 1 } }
  const old = sampleRecord({ session_id: 'run-old', symptom_raw: odd, receipt })
  const current = sampleRecord({ receipt: sampleReceipt(key) })
  oldDatabase(1, [Object.assign({ ...old }, { receipt: first }), current])
  const after = openSqliteBackend({ file, dimensions: 8 })
  expect(await after.get(old.memory_id)).toEqual({ ...old, receipt: null })
  expect(await after.get(current.memory_id)).toEqual(current)
  await after.close()
})

it('finds the records of the second schema by vector, word and repository, and counts on', async () => {
  const plain = sampleRecord({ shown: 4 })
  const named = sampleRecord({
    session_id: 'run-2',
    repository_id: 'repository-2',
    symptom: 'lost in parseUserName',
  })
  const revoked = sampleRecord({ session_id: 'run-3', revoked_at: '2026-11-02T00:00:00Z' })
  oldDatabase(2, [plain, named, revoked])
  const db = new DatabaseSync(file)
  db.exec("INSERT INTO memories VALUES (9, 'broken', 'run-9', 'key', 0, NULL, NULL, 'no JSON')")
  db.close()
  const after = openSqliteBackend({ file, dimensions: 8 })
  try {
    const query = { vectors: [seededVector(0, 8)], text: 'parse_user', limit: 5 }
    const open = { errorType: null, scope: null, notBefore: null }
    const found = await after.candidates({ ...query, ...open })
    const byId = new Map(found.map((each) => [each.record.memory_id, each]))
    expect(byId.get(plain.memory_id)).toMatchObject({ record: plain, lexical: 0 })
    expect(byId.get(plain.memory_id)?.cosine.symptom).toBeCloseTo(1)
    expect(byId.get(named.memory_id)?.lexical).toBeGreaterThan(0)
    expect(byId.size).toBe(2)
    const scope = { repository_id: 'repository-2' }
    const inRepository = await after.candidates({ ...query, ...open, scope })
    expect(inRepository.map(({ record }) => record)).toEqual([named])
    await after.count([plain.memory_id], 'confirmed')
    expect(await after.get(plain.memory_id)).toEqual({ ...plain, confirmed: 1 })
  } finally {
    await after.close()
  }
})

it('refuses a SQLite that is too old for a safe log', () => {
  expect(() => requireSqlite('3.50.2')).toThrow(/has SQLite 3\.50\.2.*needs 3\.51\.3/)
  expect(() => requireSqlite('3.51.3')).not.toThrow()
})

it('waits for the disk at each commit and logs ahead', () => {
  const db = openDatabase(file, 8)
  expect(db.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' })
  expect(db.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 2 })
  db.close()
})

/** A process that opens the database and stores records `${name}-0` and on, naming each when it is stored. */
function startWriter(name: string, count: number) {
  const script = join(productRoot, 'test/support/memory-writer.ts')
  const child = spawn(process.execPath, [script, file, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { child, lines: createInterface({ input: child.stdout }) }
}

async function storedSessions() {
  const backend = openSqliteBackend({ file, dimensions: 8 })
  const { records } = await backend.list({ limit: 10_000, offset: 0, session_id: null })
  await backend.close()
  return records.map(({ session_id }) => session_id)
}

it('is made once when four processes start on it at the same moment, and takes from all', async () => {
  const writers = ['a', 'b', 'c', 'd'].map((name) => startWriter(name, 50))
  const codes = await Promise.all(writers.map(({ child }) => once(child, 'exit')))
  expect(codes.map(([code]) => code)).toEqual([0, 0, 0, 0])
  expect(new Set(await storedSessions()).size).toBe(200)
})

it('loses no acknowledged record when its process is killed, and opens again', async () => {
  const acknowledged = new Set<string>()
  for (const killAfter of [1, 7, 40, 200]) {
    const { child, lines } = startWriter(`round-${killAfter}`, 100_000)
    const ended = once(child, 'exit')
    let seen = 0
    for await (const line of lines) {
      acknowledged.add(line)
      seen += 1
      if (seen === killAfter) child.kill('SIGKILL')
    }
    expect((await ended)[1]).toBe('SIGKILL')
    const stored = await storedSessions()
    expect(new Set(stored).size).toBe(stored.length)
    expect([...acknowledged].filter((session) => !stored.includes(session))).toEqual([])
    const db = openDatabase(file, 8)
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    db.close()
  }
})
