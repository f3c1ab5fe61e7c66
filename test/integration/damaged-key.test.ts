import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { redisSocketPath } from '../../shared/config.ts'
import { jobIdOf, memoryIdOf } from '../../shared/contracts/ids.ts'
import { loadSigningKey, rotateSigningKey } from '../../shared/keys/signing-key.ts'
import { ask } from '../../shared/queue/ask.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer, flowJob, type Producer } from '../../shared/queue/producer.ts'
import { fakeSecrets } from '../support/fake-secrets.ts'
import { sampleEvidence, samplePayload } from '../support/memory.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'

const { github } = fakeSecrets

let home: string
let redis: TestRedis
let client: ReturnType<typeof connectOrFail>
let producer: Producer
let services: ServiceProcess[]

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'astra-home-'))
  redis = await startRedis(redisSocketPath(home, {}))
  client = connectOrFail(redis.address)
  producer = createProducer(client)
  services = await Promise.all([startService('embedder', home), startService('memory-store', home)])
})

afterAll(async () => {
  await Promise.all(services.map((service) => service.end('SIGTERM')))
  await producer?.close()
  client?.disconnect()
  await redis?.stop()
  rmSync(home, { recursive: true, force: true })
})

function search(id: string) {
  const { symptom } = sampleEvidence
  const embed = flowJob('embeddings', 'embed', { texts: [symptom] }, jobIdOf('embed', id))
  const question = { query: symptom, error_type: null, top_k: 3 }
  const flow = flowJob('memory', 'search', question, jobIdOf('search', id), [embed])
  return ask(producer, { ...flow, queueName: 'memory', name: 'search' }, { timeoutMs: 150_000 })
}

it('a damaged file of a trusted key is named, and what is confirmed meanwhile is stored later', async () => {
  const old = loadSigningKey(home)
  rotateSigningKey(home)
  const key = loadSigningKey(home)
  const file = join(home, 'keys', 'trusted', `${old.keyId}.json`)
  const sound = readFileSync(file)
  writeFileSync(file, sound.subarray(0, 40))

  const { evidence, ...sample } = samplePayload(key, 'run-1')
  const symptom = `${evidence.symptom} with ${github}`
  const payload = { ...sample, evidence: { ...evidence, symptom } }
  const memory_id = memoryIdOf({ session_id: 'run-1', ...payload.claim })
  const texts = [payload.evidence.symptom, payload.claim.fix_description]
  const embed = flowJob('embeddings', 'embed', { texts }, jobIdOf('embed', 'store'))
  const store = flowJob('memory', 'store', payload, jobIdOf('store', 'run-1'), [embed])
  const asked = { ...store, queueName: 'memory', name: 'store' } as const
  expect(await ask(producer, asked, { timeoutMs: 150_000 })).toEqual({
    stored: true,
    memory_id,
    waiting: true,
  })
  await expect(search('damaged')).rejects.toThrow(
    `the key file ${file} is damaged: it does not hold the key ${old.keyId}; put it back`,
  )

  const later = jobIdOf('store-later', memory_id, payload.confirmed_at)
  const waits = JSON.stringify((await producer.queue('memory').getJob(later))?.data)
  expect(waits).toContain('[removed: github]')
  expect(waits).not.toContain(github)
  writeFileSync(file, sound)
  const state = () => producer.queue('memory').getJobState(later)
  await expect.poll(state).toBe('completed')
  expect(await search('sound')).toMatchObject({ matches: [{ session_id: 'run-1', proved: true }] })
})
