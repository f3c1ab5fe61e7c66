import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { restoreMemory } from '../../services/memory-store/lifecycle/restore-memory.ts'
import { revokeMemory } from '../../services/memory-store/lifecycle/revoke-memory.ts'
import { supersedeMemory } from '../../services/memory-store/lifecycle/supersede-memory.ts'
import { searchMemory } from '../../services/memory-store/search-memory.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { DIMENSIONS, encodeVector } from '../../shared/contracts/vector.ts'
import { sampleEvidence, sampleRecord, seededVector, shareAll } from '../support/memory.ts'

const vector = seededVector(1, DIMENSIONS)
const record = (session_id: string, changes: Partial<MemoryRecord> = {}) =>
  sampleRecord({ session_id, ...changes })
const idOf = (session_id: string) => record(session_id).memory_id

let home: string
let backend: MemoryBackend
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-memory-'))
  backend = openSqliteBackend({ file: join(home, 'memory.db'), dimensions: DIMENSIONS })
})
afterEach(async () => {
  await backend.close()
  await rm(home, { recursive: true, force: true })
})
async function keep(...records: MemoryRecord[]): Promise<void> {
  for (const each of records) await backend.upsert(each, { symptom: vector, fix: vector })
}

describe('a record stands for another', () => {
  const refused = async (old: string, by: string) => {
    const before = await backend.list({ limit: 9, offset: 0, session_id: null })
    const result = await supersedeMemory({ memory_id: old, by }, backend)
    expect(await backend.list({ limit: 9, offset: 0, session_id: null })).toEqual(before)
    return result
  }

  it('only if it is answered itself, and the one to name instead is told', async () => {
    const third = idOf('run-3')
    await keep(record('run-1'), record('run-2', { superseded_by: third }), record('run-3'))
    expect(await refused(idOf('run-1'), idOf('run-2'))).toEqual({
      done: false,
      reason: 'successor_not_live',
      message: `memory ${third} stands for ${idOf('run-2')}: name that one`,
    })
    await backend.setRevoked({ memory_id: third }, '2026-11-02T00:00:00Z')
    expect(await refused(idOf('run-1'), third)).toMatchObject({ reason: 'successor_not_live' })
  })

  it('and never for itself, or for what stands for it', async () => {
    await keep(record('run-1', { superseded_by: idOf('run-2') }), record('run-2'))
    expect(await refused(idOf('run-1'), idOf('run-1'))).toMatchObject({ reason: 'circle' })
    expect(await refused(idOf('run-2'), idOf('run-1'))).toMatchObject({ reason: 'circle' })
  })
})

describe('a repository', () => {
  it('is revoked and restored as a whole, and how many records that are is said', async () => {
    const which = { repository_id: 'repository-1' }
    await keep(record('run-1'), record('run-2'), record('run-3', { repository_id: 'another' }))
    await revokeMemory({ which: { memory_id: idOf('run-1') } }, backend)
    expect(await revokeMemory({ which }, backend)).toMatchObject({ found: 2, changed: 1 })
    expect(await restoreMemory({ which }, backend)).toMatchObject({ found: 2, changed: 2 })
    const nowhere = { which: { repository_id: 'nowhere' } }
    expect(await revokeMemory(nowhere, backend)).toMatchObject({ found: 0, changed: 0 })
  })
})

it('what a record touched is told to its own repository alone', async () => {
  await keep(record('run-1'), record('run-2', { repository_id: 'another' }))
  const job = {
    children: async () => [{ ok: true as const, value: { vectors: [encodeVector(vector)] } }],
    log: pino({ level: 'silent' }),
  }
  const deps = { backend, home, policy: shareAll }
  const told = async (repository_id?: string) => {
    const question = { query: sampleEvidence.symptom, error_type: null, top_k: 10, repository_id }
    const { matches } = await searchMemory(question, job, deps)
    return matches
      .filter(({ touched }) => touched !== null)
      .map(({ session_id, touched }) => [session_id, touched?.files])
  }
  expect(await told('repository-1')).toEqual([['run-1', ['src/names.ts']]])
  expect(await told('another')).toEqual([['run-2', ['src/names.ts']]])
  expect(await told('a third')).toEqual([])
})
