import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectOrFail } from '../../shared/queue/connection.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import { openLedger } from '../support/ledger.ts'

let astra: Astra
let lease: Lease
let redis: Redis
beforeAll(async () => {
  astra = await createAstra({ ASTRA_DAY_BUDGET_USD: '3', ASTRA_PROJECT_BUDGET_USD: '4' })
  lease = await astra.hold()
  redis = connectOrFail(astra.config.redis)
})
afterAll(async () => {
  redis.disconnect()
  await lease.release()
  await astra.remove()
})

const limits = { project: 4_000_000, day: 3_000_000, run: 2_000_000 }
const DAY_MS = 24 * 3600 * 1000

/** Two live runs, one of them of ten days ago, and one of the stand-in. */
async function spend(): Promise<void> {
  const live = openLedger(redis, astra.home)
  await live.hold('run-new', '1.1', 500_000, limits)
  await live.sent('run-new', '1.1')
  await live.settle('run-new', '1.1', 200_000)
  await live.hold('run-new', '2.1', 300_000, limits)
  await live.sent('run-new', '2.1')
  const past = new Date(Date.now() - 10 * DAY_MS)
  const old = openLedger(redis, astra.home, { now: () => past, model: 'gpt-6.2-astra' })
  await old.hold('run-old', '1.1', 700_000, limits)
  await old.closeRun('run-old', new Map([['1.1', 600_000]]))
  const notional = openLedger(redis, astra.home, { scope: 'notional', model: 'offline-stand-in' })
  await notional.hold('run-offline', '1.1', 900_000, limits)
  await notional.closeRun('run-offline', new Map([['1.1', 90_000]]))
}

async function costJson(...args: string[]) {
  const { code, stdout, stderr } = await astra.cli(['cost', '--json', ...args])
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}

describe('astra cost', () => {
  it('shows an empty ledger, and that all of the budgets is left', async () => {
    const empty = await astra.cli(['cost'])
    expect(empty).toMatchObject({ code: 0, stderr: '' })
    expect(empty.stdout).toMatch(/project +\$0\.000000 +\$0\.000000 +\$0\.000000 +\$4\.0+ +\$4\.0+/)
  })

  it.each([
    [['--days', '0'], /whole number from 1 to 400/],
    [['--run', '../x'], /a run id is 1 to 64 letters/],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await astra.cli(['cost', ...args])
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
  })

  describe('after some requests', () => {
    beforeAll(spend)

    it('shows what was spent, sent and held, and what is left of each budget', async () => {
      const { live, notional } = await costJson()
      const held = { held_microusd: 0, sent_microusd: 300_000 }
      const run = { ...held, settled_microusd: 200_000, limit_microusd: 2e6, left_microusd: 1.5e6 }
      expect(live.project).toEqual({
        ...held,
        settled_microusd: 800_000,
        limit_microusd: 4e6,
        left_microusd: 2.9e6,
      })
      expect(live.today).toMatchObject({ settled_microusd: 200_000, left_microusd: 2.5e6 })
      expect(live.days).toEqual([{ day: live.today.day, ...held, settled_microusd: 200_000 }])
      expect(live.models).toMatchObject([{ model: 'gpt-6-astra', attempts: 2 }])
      expect(live.runs).toMatchObject([{ run_id: 'run-new', ...run }])
      expect(notional).toMatchObject({
        project: { settled_microusd: 90_000, limit_microusd: null, left_microusd: null },
        runs: [{ run_id: 'run-offline', limit_microusd: null }],
      })
    })

    it('goes back as many days as it is told', async () => {
      const { live } = await costJson('--days', '11')
      expect(live.days).toHaveLength(2)
      expect(live.models.map((each: { model: string }) => each.model)).toEqual([
        'gpt-6.2-astra',
        'gpt-6-astra',
      ])
      expect(live.runs.map((each: { run_id: string }) => each.run_id)).toEqual([
        'run-new',
        'run-old',
      ])
    })

    it('shows one run attempt by attempt, whenever it was', async () => {
      const { stdout, code } = await astra.cli(['cost', '--run', 'run-old'])
      expect(code).toBe(0)
      expect(stdout).toMatch(/run-old +\$0\.600000 .* \$2\.000000 +\$1\.400000/)
      expect(stdout).toMatch(/1\.1 +settled +\$0\.700000 +\$0\.600000 .*gpt-6\.2-astra/)
      expect(stdout).not.toContain('run-new')
      const { live, notional } = await costJson('--run', 'run-none')
      expect([live.runs, notional.runs]).toEqual([[], []])
    })
  })
})
