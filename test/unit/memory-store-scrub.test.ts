import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { storeMemory } from '../../services/memory-store/store-memory.ts'
import { verifyMemory } from '../../services/memory-store/verify-memory.ts'
import { DIMENSIONS, encodeVector } from '../../shared/contracts/vector.ts'
import { loadSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import { createScrubber } from '../../shared/scrub/scrubber.ts'
import { fakeCharacters, fakeSecrets } from '../support/fake-secrets.ts'
import { samplePayload, sampleReceipt, shareAll } from '../support/memory.ts'

const { github } = fakeSecrets
const known = ['of', 'this', 'machine', fakeCharacters(8).toLowerCase()].join('.')
const scrub = createScrubber([known])

let home: string
let key: SigningKey
let backend: MemoryBackend

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-memory-'))
  key = loadSigningKey(home)
  backend = openSqliteBackend({ file: join(home, 'memory', 'memory.db'), dimensions: DIMENSIONS })
})

afterEach(async () => {
  await backend.close()
  await rm(home, { recursive: true, force: true })
})

function vectors() {
  const vector = new Float32Array(DIMENSIONS)
  vector[0] = 1
  const encoded = encodeVector(vector)
  return { children: async () => [{ ok: true as const, value: { vectors: [encoded, encoded] } }] }
}

function store(payload: Parameters<typeof storeMemory>[0]) {
  const deps = { backend, home, policy: shareAll, scrub }
  return storeMemory(payload, vectors(), deps)
}

async function onDisk(): Promise<string> {
  const folder = join(home, 'memory')
  const files = await readdir(folder)
  return (await Promise.all(files.map((file) => readFile(join(folder, file), 'latin1')))).join('')
}

describe('the memory-store believes nobody that texts are scrubbed', () => {
  it('writes no secret to the disk, says what it removed, and the record stays proved', async () => {
    const payload = samplePayload(key, 'run-1')
    const stored = await store({
      ...payload,
      claim: { ...payload.claim, fix_description: `Sent ${github} and ${known} again` },
      evidence: { ...payload.evidence, symptom: `401 with ${github}`, diff: `+key = ${known}` },
      scrubbed: [{ rule: 'github', count: 1 }],
    })
    if (!stored.stored) throw new Error(stored.message)
    const record = await backend.get(stored.memory_id)
    expect(record).toMatchObject({
      fix_description: 'Sent [removed: github] and [removed: known-secret] again',
      symptom: '401 with [removed: github]',
      diff: '+key = [removed: known-secret]',
      scrubbed: [
        { rule: 'github', count: 3 },
        { rule: 'known-secret', count: 2 },
      ],
    })
    const disk = await onDisk()
    expect(disk.includes('[removed: github]')).toBe(true)
    expect([github.slice(0, 14), known.slice(-8)].filter((part) => disk.includes(part))).toEqual([])
    const { signal } = new AbortController()
    const verified = await verifyMemory({ after: null, named: 1 }, { signal }, { backend, home })
    expect(verified).toMatchObject({ proved: 1, named: [] })
  })

  it('refuses a fix whose receipt is signed with a secret', async () => {
    const targets = [`test/login.test.ts > sends ${github}`]
    const payload = samplePayload(key, 'run-1')
    const refused = await store({
      ...payload,
      evidence: { ...payload.evidence, failing_tests: targets },
      receipt: sampleReceipt(key, { targets, run_id: 'run-1' }),
    })
    expect(refused).toMatchObject({ stored: false, error: 'secret_in_receipt' })
    expect((await onDisk()).includes(github)).toBe(false)
  })
})
