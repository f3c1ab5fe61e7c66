import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisSocketPath } from '../../shared/config.ts'
import type { JobName, Payload, Result } from '../../shared/contracts/catalog.ts'
import { jobIdOf, memoryIdOf } from '../../shared/contracts/ids.ts'
import type { StorePayload } from '../../shared/contracts/memory.ts'
import { loadSigningKey, type SigningKey } from '../../shared/keys/signing-key.ts'
import { ask } from '../../shared/queue/ask.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer, flowJob, type Producer } from '../../shared/queue/producer.ts'
import { sampleEvidence, samplePayload, sampleReceipt } from '../support/memory.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'
import { mountSmallDisk, noSmallDisk, type SmallDisk } from '../support/small-disk.ts'

/** Room for the database and its log with the few records that are stored here. */
const DISK_MB = 12
const reason = await noSmallDisk()
const title = 'a memory on a disk that is'

describe.skipIf(reason !== null)(reason === null ? title : `${title} (${reason})`, () => {
  let home: string
  let key: SigningKey
  let redis: TestRedis
  let client: ReturnType<typeof connectOrFail>
  let producer: Producer
  let embedder: ServiceProcess
  let disk: SmallDisk
  let memory: ServiceProcess

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'astra-home-'))
    key = loadSigningKey(home)
    await mkdir(join(home, 'memory'))
    disk = await mountSmallDisk(join(home, 'memory'), DISK_MB)
    redis = await startRedis(redisSocketPath(home, {}))
    client = connectOrFail(redis.address)
    producer = createProducer(client)
    ;[embedder, memory] = await Promise.all([startService('embedder', home), startMemory()])
  })

  afterAll(async () => {
    await Promise.all([embedder?.end('SIGTERM'), memory?.end('SIGTERM')])
    await producer?.close()
    client?.disconnect()
    await redis?.stop()
    await disk?.remove()
    await rm(home, { recursive: true, force: true })
  })

  const startMemory = () => startService('memory-store', home, {}, disk.through)
  async function restart(): Promise<void> {
    await memory.end('SIGKILL')
    memory = await startMemory()
  }

  let asked = 0
  function request<J extends JobName<'memory'>>(
    name: J,
    payload: Payload<'memory', J>,
    texts: string[] = [],
  ): Promise<Result<'memory', J>> {
    asked += 1
    const id = String(asked)
    const embed = flowJob('embeddings', 'embed', { texts: ['-'] }, jobIdOf('embed', name, id))
    const children = texts.length > 0 ? [{ ...embed, data: { texts } }] : []
    const flow = flowJob('memory', name, payload, jobIdOf(name, id), children)
    return ask(producer, { ...flow, queueName: 'memory', name }, { timeoutMs: 150_000 })
  }
  const store = (payload: StorePayload) =>
    request('store', payload, [payload.evidence.symptom, payload.claim.fix_description])
  const search = () => {
    const query = sampleEvidence.symptom
    return request('search', { query, error_type: null, top_k: 10 }, [query])
  }
  const sessionsFound = async () =>
    (await search()).matches.map(({ session_id }) => session_id).sort()

  /** A fix of a test of its own, so that none merges with another. */
  function payloadOf(session: string): StorePayload {
    const failing_tests = [`test/${session}.test.ts > fails`]
    const receipt = sampleReceipt(key, { run_id: session, targets: failing_tests })
    const evidence = { ...sampleEvidence, failing_tests }
    return { ...samplePayload(key, session), evidence, receipt }
  }

  const idOf = ({ session_id, claim }: StorePayload) => memoryIdOf({ session_id, ...claim })
  const waiting = (payload: StorePayload) => ({
    stored: true,
    memory_id: idOf(payload),
    waiting: true,
  })
  const stateOf = (payload: StorePayload) =>
    producer
      .queue('memory')
      .getJobState(jobIdOf('store-later', idOf(payload), payload.confirmed_at))
  const storedLater = (...payloads: StorePayload[]) =>
    expect.poll(() => Promise.all(payloads.map(stateOf))).toEqual(payloads.map(() => 'completed'))

  it('full answers what it has, and stores what is confirmed as soon as there is room', async () => {
    const [first, second] = [payloadOf('run-1'), payloadOf('run-2')]
    expect(await store(first)).toEqual({ stored: true, memory_id: idOf(first) })
    await disk.fill()
    expect(await store(second)).toEqual(waiting(second))
    expect(await sessionsFound()).toEqual(['run-1'])
    const revoke = request('revoke', { which: { session_id: 'run-1' } })
    await expect(revoke).rejects.toThrow(/memory\.db cannot be used: .*full.*make room/)
    await disk.free()
    await storedLater(second)
    expect(await sessionsFound()).toEqual(['run-1', 'run-2'])
  })

  it('full when the store starts holds up nothing, and is used when there is room', async () => {
    await disk.fill()
    await restart()
    const third = payloadOf('run-3')
    expect(await store(third)).toEqual(waiting(third))
    await disk.free()
    await storedLater(third)
    expect(await sessionsFound()).toEqual(['run-1', 'run-2', 'run-3'])
  })

  it('read-only answers what it has, and is written as soon as it can be', async () => {
    await memory.end('SIGKILL')
    await disk.setWritable(false)
    memory = await startMemory()
    const fourth = payloadOf('run-4')
    expect(await store(fourth)).toEqual(waiting(fourth))
    expect(await sessionsFound()).toEqual(['run-1', 'run-2', 'run-3'])
    await disk.setWritable(true)
    await storedLater(fourth)
    expect(await sessionsFound()).toEqual(['run-1', 'run-2', 'run-3', 'run-4'])
  })

  it('read-only, with a file that cannot even be read so, fails searches and loses nothing', async () => {
    // A clean end leaves no log, and without one SQLite reads nothing in a folder it cannot write.
    await memory.end('SIGTERM')
    await disk.setWritable(false)
    memory = await startMemory()
    const fifth = payloadOf('run-5')
    expect(await store(fifth)).toEqual(waiting(fifth))
    await expect(search()).rejects.toThrow(/memory\.db cannot be used: .*; look at its folder/)
    await restart()
    expect(await stateOf(fifth)).not.toBe('failed')
    await disk.setWritable(true)
    await storedLater(fifth)
    expect(await sessionsFound()).toEqual(['run-1', 'run-2', 'run-3', 'run-4', 'run-5'])
  })
})
