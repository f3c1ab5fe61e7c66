import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { redisSocketPath } from '../../shared/config.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { loadSigningKey, rotateSigningKey } from '../../shared/keys/signing-key.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import { ask } from '../../shared/queue/ask.ts'
import { connect } from '../../shared/queue/connection.ts'
import { createProducer, flowJob, type Producer } from '../../shared/queue/producer.ts'
import { receiptProblem } from '../../shared/receipt.ts'
import { runFiles, savePatch } from '../../shared/run-files.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'
import { fixture, pathEnv, writeSnapshot } from '../support/test-runner.ts'

const SOURCE = 'src/origins.mjs'

let home: string
let redis: TestRedis
let client: ReturnType<typeof connect>
let producer: Producer
let runner: ServiceProcess
let patch: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-home-'))
  redis = await startRedis(redisSocketPath(home, {}))
  client = connect(redis.address)
  producer = createProducer(client)
  const contents = await fixture('node')
  await writeSnapshot(home, 'run-a', contents)
  const source = contents[SOURCE] ?? ''
  const after = source.replace("split(',')", "split(',').map((each) => each.trim())")
  patch = await savePatch(runFiles(home, 'run-a'), {
    files: [{ path: SOURCE, before: sha256(source), after }],
  })
  runner = await startService('test-runner', home)
})
afterAll(async () => {
  await runner?.end('SIGTERM')
  await producer?.close()
  client?.disconnect()
  await redis?.stop()
  await rm(home, { recursive: true, force: true })
})

async function verify(id: string) {
  const payload = { run_id: 'run-a', path_env: pathEnv, command: 'node --test', patch }
  const job = flowJob('tests', 'verify', payload, id)
  const question = { ...job, queueName: 'tests', name: 'verify' } as const
  const verdict = await ask(producer, question, { timeoutMs: 150_000 })
  if (!verdict.confirmed) throw new Error(verdict.message)
  return verdict.receipt
}

it('a running test-runner signs with the key of a rotation, and what it signed before stays proved', async () => {
  const first = loadSigningKey(home).keyId
  const before = await verify('before')
  const { keyId } = rotateSigningKey(home)
  const after = await verify('after')
  expect([before.key_id, after.key_id]).toEqual([first, keyId])
  const trusted = loadTrustedKeys(home)
  expect([before, after].map((receipt) => receiptProblem(receipt, trusted))).toEqual([null, null])
})

it('a test-runner whose signing key is damaged confirms nothing, names the file and leaves it', async () => {
  const file = join(home, 'keys', 'signing.pem')
  await writeFile(file, 'damaged')
  await expect(verify('damaged')).rejects.toThrow(`the signing key ${file} is damaged`)
  expect(() => loadSigningKey(home)).toThrow(/damaged/)
})
