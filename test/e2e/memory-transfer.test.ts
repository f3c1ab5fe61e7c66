import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { loadSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import { runAstra } from '../support/cli.ts'
import type { DoubleServer } from '../support/double-server.ts'
import { sampleReceipt, sampleRecord, seededVector } from '../support/memory.ts'
import { startQdrantDouble } from '../support/qdrant-double.ts'
import { startVectoraiDouble } from '../support/vectorai-double.ts'

/** An installation with its own home and store, whose services stay up. */
type Installation = { astra: Astra; lease: Lease }

let folder: string
let qdrant: DoubleServer
let vectorai: DoubleServer
const installations = new Map<string, Installation>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-move-'))
  qdrant = await startQdrantDouble()
  vectorai = await startVectoraiDouble()
})

afterAll(async () => {
  for (const { lease, astra } of installations.values()) {
    await lease.release()
    await astra.remove()
  }
  await Promise.all([qdrant?.stop(), vectorai?.stop()])
  await rm(folder, { recursive: true, force: true })
})

function settingsOf(name: string): Record<string, string> {
  if (name === 'qdrant') return { ASTRA_STORE: 'qdrant', ASTRA_QDRANT_URL: qdrant.url }
  if (name === 'vectorai') return { ASTRA_STORE: 'vectorai', ASTRA_VECTORAI_URL: vectorai.url }
  return {}
}

async function memory(name: string, args: string[], options: { input?: string } = {}) {
  const env = settingsOf(name)
  let installation = installations.get(name)
  if (!installation) {
    const astra = await createAstra(env)
    if (name === 'sqlite') await fill(astra.home)
    installation = { astra, lease: await astra.hold() }
    installations.set(name, installation)
  }
  const { home } = installation.astra
  return runAstra(['memory', ...args], {
    home: folder,
    ...options,
    env: { ...env, ASTRA_HOME: home },
  })
}

async function fill(home: string): Promise<void> {
  const file = join(home, 'memory', 'memory.db')
  const backend = openSqliteBackend({ file, dimensions: DIMENSIONS })
  for (const [i, record] of records(loadSigningKey(home)).entries()) {
    const fix = seededVector(2 * i, DIMENSIONS)
    const symptom = record.symptom === '' ? fix : seededVector(2 * i + 1, DIMENSIONS)
    await backend.upsert(record, { symptom, fix })
  }
  await backend.close()
}

const records = (key: SigningKey) => [
  sampleRecord({ receipt: sampleReceipt(key), shown: 4, confirmed: 2, unconfirmed: 1 }),
  sampleRecord({ session_id: 'run-2', revoked_at: '2026-11-02T00:00:00Z', group: 'team' }),
  sampleRecord({ session_id: 'run-3', symptom: '', superseded_by: sampleRecord().memory_id }),
  ...Array.from({ length: 16 }, (_, i) =>
    sampleRecord({ session_id: `large-${i}`, diff: `+${'x'.repeat(8000)}` }),
  ),
]

describe('records move from store to store', () => {
  it('through a pipe, and come out as they went in, to the byte', async () => {
    const first = await memory('sqlite', ['export', '-', '--vectors'])
    expect(first).toMatchObject({ code: 0 })
    const ids = first.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).memory_id)
    expect(ids).toHaveLength(19)
    expect(ids).toEqual(ids.toSorted())

    const into = await memory('qdrant', ['import', '-'], { input: first.stdout })
    expect(into).toMatchObject({ code: 0 })
    expect(into.stdout).toContain('19 imported, 19 of them unproved; 0 were there; 0 refused')
    expect((await memory('qdrant', ['export', '-', '--vectors'])).stdout).toBe(first.stdout)
  })

  it('through a file, and a second import of it changes nothing', async () => {
    const file = join(folder, 'memory.jsonl')
    const exported = await memory('sqlite', ['export', file, '--vectors', '--json'])
    expect(exported).toMatchObject({ code: 0 })
    expect(JSON.parse(exported.stdout)).toEqual({ file, exported: 19, unreadable: [] })
    const both = await memory('sqlite', ['export', '-', '--json'])
    expect(both).toMatchObject({ code: 2, stdout: expect.stringContaining('name a file') })
    const text = await readFile(file, 'utf8')
    expect(await memory('vectorai', ['import', file])).toMatchObject({ code: 0 })
    const again = await memory('vectorai', ['import', file])
    expect(again).toMatchObject({ code: 0 })
    expect(again.stdout).toContain('0 imported, 0 of them unproved; 19 were there; 0 refused')
    expect((await memory('vectorai', ['export', '-', '--vectors'])).stdout).toBe(text)
  })

  it('without vectors, which are made anew; a damaged line is refused by its number', async () => {
    const { stdout } = await memory('sqlite', ['export', '-'])
    const lines = stdout.trimEnd().split('\n')
    const [one = '', two = '', three = '', four = ''] = lines
    const secret = `ghp_${'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'}`
    const withSecret = JSON.parse(four)
    withSecret.symptom_raw = `Authorization: Bearer ${secret}`
    const damaged = [
      one,
      two.slice(0, -20),
      three.replace('Trim each', 'Drop each'),
      '',
      JSON.stringify({ ...JSON.parse(one), shown: -1 }),
      JSON.stringify(withSecret),
    ]
    const file = join(folder, 'damaged.jsonl')
    await writeFile(file, `${damaged.join('\n')}\n`)
    const result = await memory('other', ['import', file, '--json'])
    expect(result).toMatchObject({ code: 3 })
    expect(JSON.parse(result.stdout)).toEqual({
      imported: 2,
      unproved: 2,
      present: 0,
      refused: [
        { line: 2, message: expect.stringContaining('it is no record') },
        { line: 3, message: expect.stringContaining('its id does not follow') },
        { line: 5, message: expect.stringContaining('shown') },
      ],
    })
    const exported = (await memory('other', ['export', '-'])).stdout
    expect(exported.split('\n')[0]).toBe(one)
    expect(exported).not.toContain(secret)
    const found = await memory('other', ['search', 'takes a list with spaces', '--json'])
    expect(JSON.parse(found.stdout).searched).toBeGreaterThan(0)
  })
})
