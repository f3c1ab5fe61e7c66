import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { openLedger } from '../support/ledger.ts'
import { startRedis } from '../support/redis.ts'

/**
 * How long the transitions of the ledger take, with and without their evidence: one after the other,
 * and 16 runs at once. Run it with `node ops/run.mjs test/bench/ledger.ts`.
 */
const ROUNDS = 1000
const limits = { project: 1e12, day: 1e12, run: 1e12 }
const server = await startRedis()
const redis = connectOrFail(server.address)
const home = await mkdtemp(join(tmpdir(), 'astra-bench-'))
const ledger = openLedger(redis, home)

async function drive(runId: string, rounds: number): Promise<void> {
  for (let request = 1; request <= rounds; request += 1) {
    await ledger.hold(runId, `${request}.1`, 100, limits)
    await ledger.sent(runId, `${request}.1`)
    await ledger.settle(runId, `${request}.1`, 50)
  }
}

async function repeat(rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i += 1) await ledger.settle('run-warm', '1.1', 50)
}

async function measure(what: string, calls: number, work: () => Promise<unknown>): Promise<void> {
  const started = performance.now()
  await work()
  const micros = ((performance.now() - started) * 1000) / calls
  process.stdout.write(`${what.padEnd(44)} ${micros.toFixed(0).padStart(6)} µs a call\n`)
}

await drive('run-warm', 50)
await measure('a call that changes nothing (script alone)', ROUNDS, () => repeat(ROUNDS))
await measure('a transition with its fsync, one by one', 3 * ROUNDS, () => drive('run-a', ROUNDS))
const many = Array.from({ length: 16 }, (_, i) => `run-many-${i}`)
await measure('a transition with its fsync, 16 runs at once', 16 * 3 * 100, () =>
  Promise.all(many.map((runId) => drive(runId, 100))),
)
redis.disconnect()
await server.stop()
await rm(home, { recursive: true, force: true })
