import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createJournalStore } from '../../services/agent-runner/journal/journal-store.ts'
import { withOwnRedis } from '../../services/cli/backup/own-redis.ts'
import { productRoot } from '../../shared/config.ts'
import { readProjectAmounts } from '../../shared/contracts/ledger.ts'
import { runJournalKey } from '../../shared/contracts/run-view.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { type Astra, createAstra } from '../support/astra.ts'

const RUN = 'run-of-before'
let astra: Astra

beforeAll(async () => {
  astra = await createAstra()
  mkdirSync(astra.home, { recursive: true })
  const archive = join(productRoot, 'test/fixtures', RUN, 'home.tar.zst')
  execFileSync('tar', ['--zstd', '-xf', archive, '-C', astra.home])
  // Its time would be over: it counts from the first request, which has to have left just now.
  await withOwnRedis(join(astra.home, 'redis'), process.env, async (redis) => {
    const key = runJournalKey(RUN)
    const sent = JSON.parse((await redis.hget(key, 'sent/1.1')) ?? '')
    await redis.hset(key, 'sent/1.1', JSON.stringify({ ...sent, at: new Date().toISOString() }))
  })
})
afterAll(() => astra.remove())

it('goes on with a run that began under the previous version, and ends it', async () => {
  const lease = await astra.hold()
  const redis = connectOrFail(astra.config.redis)
  try {
    const before = await createJournalStore(redis).load(RUN)
    const ended = await astra.cli(['watch', RUN, '--json'])
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
    const journal = await createJournalStore(redis).load(RUN)
    expect(journal.end).toMatchObject({ status: 'fixed', reason: 'tests_pass' })
    // What was there is as it was: answered requests are not made again.
    for (const [n, response] of before.responses) expect(journal.responses.get(n)).toEqual(response)
    expect(journal.responses.size).toBeGreaterThan(before.responses.size)
    const costs = [...journal.responses.values()].map((response) => response.cost_microusd)
    const lost = [...journal.sent].filter(([key]) => {
      const [request = '', attempt] = key.split('.')
      return journal.responses.get(request)?.attempt !== Number(attempt)
    })
    const spent = await readProjectAmounts(redis, 'notional')
    const settled = costs.reduce((a, b) => a + b, 0)
    const charged = lost.reduce((sum, [, sent]) => sum + sent.hold_microusd, 0)
    expect(spent).toEqual({ held: 0, sent: 0, settled: settled + charged })
  } finally {
    redis.disconnect()
    await lease.release()
  }
})
