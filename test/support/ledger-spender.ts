import { connectOrFail } from '../../shared/queue/connection.ts'
import { openLedger } from './ledger.ts'

/**
 * Spends from a ledger as fast as it can until the project's budget refuses, as several agent-runners
 * at once would: runs of its own, and some that other processes drive too (a stalled job that was
 * taken over). Tells its parent about each attempt that it got through.
 */
const [socket = '', home = '', name = '', limit = '0'] = process.argv.slice(2)
const redis = connectOrFail({ path: socket })
const ledger = openLedger(redis, home)
const limits = { project: Number(limit), day: Number(limit), run: Number(limit) }
const MAX_ATTEMPTS = 1000

async function drive(runId: string): Promise<void> {
  for (let request = 1; request <= MAX_ATTEMPTS; request += 1) {
    const attempt = `${request}.1`
    const amount = 1 + Math.floor(Math.random() * 20_000)
    const held = await ledger.hold(runId, attempt, amount, limits)
    if (!held.granted && held.limit !== null) return
    // Now and then a request is given up before it leaves, or its answer is never seen.
    if (request % 11 !== 0 && (await ledger.sent(runId, attempt)) && request % 7 !== 0) {
      await ledger.settle(runId, attempt, Math.floor(Math.random() * amount))
    }
    process.send?.(attempt)
  }
}

const own = [1, 2, 3].map((i) => `run-${name}-${i}`)
const shared = ['run-shared-1', 'run-shared-2']
await Promise.all([...own, ...shared].map(drive))
redis.disconnect()
process.disconnect?.()
