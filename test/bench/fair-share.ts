import { connect } from '../../shared/queue/connection.ts'
import { noteTaken } from '../../shared/queue/fair-share.ts'
import { createProducer } from '../../shared/queue/producer.ts'
import { startRedis } from '../support/redis.ts'

/** What a fair turn costs beside adding a job, with many repositories and many jobs waiting. */
const ROUNDS = 3_000
const REPOSITORIES = 100
const WAITING = 20_000

const server = await startRedis()
const redis = connect(server.address)
const producer = createProducer(redis)
const payload = { run_id: 'run-a', path_env: '', command: null }
const turn = (n: number) =>
  producer.fairPriority('tests', {
    repositoryId: `repository-${n % REPOSITORIES}`,
    priority: 'normal',
  })
const add = (n: number, priority: number) =>
  producer.add('tests', 'baseline', payload, { jobId: `job-${n}`, priority })

async function microseconds(work: (n: number) => Promise<unknown>): Promise<number> {
  const started = performance.now()
  for (let n = 0; n < ROUNDS; n += 1) await work(n)
  return Math.round(((performance.now() - started) * 1000) / ROUNDS)
}

async function beginAnew(): Promise<number> {
  const clock = '{astra}:share:tests:normal'
  await redis.hset(clock, { now: 699_040, latest: 699_049 })
  await redis.hset(`${clock}:last`, 'repository-0', 699_049)
  const started = performance.now()
  await turn(0)
  return Math.round(performance.now() - started)
}

try {
  // Warm before anything is measured.
  await microseconds((n) => add(-1 - n, 1))
  const ping = await microseconds(() => redis.ping())
  const plain = await microseconds((n) => add(n, 1))
  const assigned = await microseconds(turn)
  const both = await microseconds(async (n) => add(ROUNDS + n, await turn(n)))
  const taken = await microseconds((n) =>
    noteTaken(redis, 'tests', { id: `job-${n}`, priority: 699_051 }),
  )
  for (let n = 0; n < WAITING; n += 1) await add(2 * ROUNDS + n, await turn(n))
  const anew = await beginAnew()
  process.stdout.write(
    `${[
      `one round trip: ${ping} µs`,
      `add a job: ${plain} µs; its turn: ${assigned} µs; both: ${both} µs`,
      `note a job as taken: ${taken} µs`,
      `begin a band anew with ${WAITING + ROUNDS} waiting: ${anew} ms`,
    ].join('\n')}\n`,
  )
} finally {
  await producer.close()
  redis.disconnect()
  await server.stop()
}
