import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { storeMerged } from '../../services/memory-store/lifecycle/store-merged.ts'
import { createQdrantBackend } from '../../services/memory-store/qdrant/qdrant-backend.ts'
import { createVectoraiBackend } from '../../services/memory-store/vectorai/vectorai-backend.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { loadSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import type { DoubleServer } from '../support/double-server.ts'
import { sampleReceipt, sampleRecord, seededVector } from '../support/memory.ts'
import { startQdrantDouble } from '../support/qdrant-double.ts'
import { startVectoraiDouble } from '../support/vectorai-double.ts'

const common = { collection: 'astra_codebase_memory', dimensions: DIMENSIONS }
const servers = [
  {
    kind: 'qdrant',
    start: () => startQdrantDouble(),
    open: (url: string) => createQdrantBackend({ ...common, url, apiKey: undefined }),
  },
  {
    kind: 'vectorai',
    start: () => startVectoraiDouble(),
    open: (url: string) => createVectoraiBackend({ ...common, url, token: undefined }),
  },
]

describe.each(servers)('near-duplicates in $kind', ({ start, open }) => {
  const vectors = { symptom: seededVector(1, DIMENSIONS), fix: seededVector(2, DIMENSIONS) }
  let home: string
  let key: SigningKey
  let double: DoubleServer
  let backend: MemoryBackend

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'astra-merge-'))
    key = loadSigningKey(home)
    double = await start()
    backend = open(double.url)
  })
  afterEach(async () => {
    await backend.close()
    await double.stop()
    await rm(home, { recursive: true, force: true })
  })

  function proved(day: number, changes: Partial<MemoryRecord> = {}): MemoryRecord {
    const session_id = `run-${day}`
    const receipt = sampleReceipt(key, { run_id: session_id })
    return sampleRecord({ session_id, receipt, timestamp: `2026-11-0${day}T10:00:00Z`, ...changes })
  }
  const store = (record: MemoryRecord) => storeMerged({ backend, home }, record, vectors)

  it('become one, with counters and names, whichever comes first', async () => {
    const [one, two, three] = [proved(1, { shown: 3 }), proved(2), proved(3)]
    await store(two)
    await backend.count([two.memory_id], 'confirmed', 'run-9')
    await store(one)
    await store(three)
    expect(await backend.get(three.memory_id)).toEqual({
      ...three,
      merged: [two.memory_id],
      shown: 3,
      confirmed: 1,
    })
    expect(await backend.get(two.memory_id)).toMatchObject({ superseded_by: three.memory_id })
    expect(await backend.get(one.memory_id)).toMatchObject({ superseded_by: two.memory_id })
    const live = { errorType: null, scope: null, notBefore: null }
    expect(await backend.countLive(live)).toBe(1)
    for (const record of [one, two, three]) await store(record)
    expect(await backend.get(three.memory_id)).toMatchObject({ shown: 3, confirmed: 1 })
  })

  it('stay two when they are of other repositories', async () => {
    const receipt = sampleReceipt(key, { run_id: 'run-2', repository_id: 'another' })
    await store(proved(1))
    await store(proved(2, { repository_id: 'another', receipt }))
    expect((await backend.get(proved(1).memory_id))?.superseded_by).toBeNull()
  })
})
