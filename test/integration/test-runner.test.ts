import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeAbandonedFolders } from '../../services/test-runner/copy/test-folder.ts'
import { killAbandoned } from '../../services/test-runner/run/process-tree.ts'
import { redisSocketPath } from '../../shared/config.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { loadTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import { ask } from '../../shared/queue/ask.ts'
import { connect } from '../../shared/queue/connection.ts'
import { createProducer, flowJob, type Producer } from '../../shared/queue/producer.ts'
import { receiptProblem } from '../../shared/receipt.ts'
import { runFiles, savePatch } from '../../shared/run-files.ts'
import { type LingeringTests, listenToTests } from '../support/lingering-tests.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'
import { fixture, pathEnv, writeSnapshot } from '../support/test-runner.ts'

const SOURCE = 'src/origins.mjs'

let home = ''
let redis: TestRedis
let producer: Producer
let connection: ReturnType<typeof connect>
let services: ServiceProcess[] = []
let tests: LingeringTests

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-home-'))
  tests = await listenToTests(home)
  redis = await startRedis(redisSocketPath(home, process.env))
  connection = connect(redis.address)
  producer = createProducer(connection)
})
afterEach(async () => {
  for (const service of services) {
    if (service.child.exitCode === null && service.child.signalCode === null) {
      await service.end('SIGKILL')
    }
  }
  services = []
  await tests.close()
  await producer.close()
  connection.disconnect()
  await redis.stop()
  await killAbandoned(home)
  await removeAbandonedFolders(home)
  await rm(home, { recursive: true, force: true })
})

async function start(): Promise<ServiceProcess> {
  const service = await startService('test-runner', home)
  services.push(service)
  return service
}

const asked = { run_id: 'run-a', path_env: pathEnv }
const baselineJob = (id: string) =>
  Object.assign(flowJob('tests', 'baseline', { ...asked, command: null }, id), {
    queueName: 'tests' as const,
    name: 'baseline' as const,
  })

describe('the test-runner', () => {
  it('answers baseline, run and verify with one receipt after another', async () => {
    const contents = await fixture('node')
    await writeSnapshot(home, 'run-a', contents)
    await start()
    const before = await ask(producer, baselineJob('baseline-1'), { timeoutMs: 150_000 })
    expect(before).toMatchObject({ kind: 'red', commands: ['node --test'], failed: 6 })

    const source = contents[SOURCE] ?? ''
    const after = source.replace("split(',')", "split(',').map((each) => each.trim())")
    const patch = await savePatch(runFiles(home, 'run-a'), {
      files: [{ path: SOURCE, before: sha256(source), after }],
    })
    const payload = { ...asked, command: 'node --test', patch }
    const run = await ask(
      producer,
      Object.assign(flowJob('tests', 'run', payload, 'run-1'), {
        queueName: 'tests' as const,
        name: 'run' as const,
      }),
      { timeoutMs: 150_000 },
    )
    expect(run).toMatchObject({ kind: 'green', verification: { confirmed: true } })
    const verdict = await ask(
      producer,
      Object.assign(flowJob('tests', 'verify', payload, 'verify-1'), {
        queueName: 'tests' as const,
        name: 'verify' as const,
      }),
      { timeoutMs: 150_000 },
    )
    if (!verdict.confirmed) throw new Error(verdict.message)
    expect(receiptProblem(verdict.receipt, loadTrustedKeys(home))).toBeNull()
    const version = JSON.parse(await readFile('package.json', 'utf8')).version
    expect(verdict.receipt.body.product_version).toBe(version)
  })

  it('is killed in a test run: its tests and their daemons die with it, and another takes over', async () => {
    await writeSnapshot(home, 'run-a', tests.projectWithDaemon('a'), { links: tests.links })
    const first = await start()
    await producer.add('tests', 'baseline', { ...asked, command: null }, { jobId: 'baseline-1' })
    const test = await tests.begun(1, 'a')
    const daemon = await tests.begun(1, 'daemon')
    expect(await testFolders()).toHaveLength(1)

    await first.end('SIGKILL')
    await Promise.all([test.gone, daemon.gone])

    await start()
    const again = await tests.begun(2, 'a')
    again.release()
    const result = await ask(producer, baselineJob('baseline-1'), { timeoutMs: 150_000 })
    expect(result).toMatchObject({ kind: 'green', passed: 2 })
    expect(await testFolders()).toEqual([])
  })

  it('ends on SIGTERM with its tests, and hands the job back', async () => {
    await writeSnapshot(home, 'run-a', tests.projectWithDaemon('a'), { links: tests.links })
    const service = await start()
    await producer.add('tests', 'baseline', { ...asked, command: null }, { jobId: 'baseline-1' })
    const test = await tests.begun(1, 'a')
    const daemon = await tests.begun(1, 'daemon')
    expect(await service.end('SIGTERM')).toBe(0)
    await Promise.all([test.gone, daemon.gone])
    expect(await testFolders()).toEqual([])
    const job = await producer.queue('tests').getJob('baseline-1')
    expect(await job?.getState()).toBeOneOf(['delayed', 'waiting', 'active'])
  })
})

async function testFolders(): Promise<string[]> {
  const start = `astra-test-${sha256(home).slice(0, 12)}-`
  return (await readdir(tmpdir())).filter((name) => name.startsWith(start))
}
