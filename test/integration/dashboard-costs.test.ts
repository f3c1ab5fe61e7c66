import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../services/agent-runner/budget/ledger.ts'
import { createJournalStore } from '../../services/agent-runner/journal/journal-store.ts'
import { newRunId } from '../../shared/contracts/ids.ts'
import type { LedgerScope } from '../../shared/contracts/ledger.ts'
import { startDashboardApp, type TestDashboard } from '../support/dashboard.ts'
import { openLedger } from '../support/ledger.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { sampleView } from '../support/run-view.ts'

const now = new Date('2026-11-30T12:00:00.000Z')
const DAY_MS = 24 * 3600 * 1000
const LIMITS = { project: 20e6, day: 10e6, run: 2e6 }

let server: TestRedis
let home: string
let dashboard: TestDashboard
let cookie: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-home-'))
  server = await startRedis()
  dashboard = await startDashboardApp(server.address, home, { now: () => now })
  cookie = (await dashboard.logIn()).cookie
})
afterAll(async () => {
  await dashboard?.stop()
  await server?.stop()
  await rm(home, { recursive: true, force: true })
})
beforeEach(() => dashboard.deps.redis.flushall())

/** A ledger whose clock stands that many days ago. */
function ledger(daysAgo: number, scope: LedgerScope = 'live', model = 'gpt-6-astra'): Ledger {
  const at = new Date(now.getTime() - daysAgo * DAY_MS)
  return openLedger(dashboard.deps.redis, home, { scope, model, now: () => at })
}

async function spend(of: Ledger, run: string, dollars: number): Promise<void> {
  await of.hold(run, '1.1', dollars * 1e6, LIMITS)
  await of.sent(run, '1.1')
  await of.settle(run, '1.1', dollars * 1e6)
}

/** The page's section of one scope. */
async function section(scope: LedgerScope): Promise<string> {
  const response = await fetch(`${dashboard.url}/costs`, { headers: { cookie } })
  expect(response.status).toBe(200)
  const text = await response.text()
  return new RegExp(`<section id="${scope}">[\\s\\S]*?</section>`).exec(text)?.[0] ?? ''
}

/** The texts of the cells of the row that holds `name`. */
function row(text: string, name: string): string[] {
  const rows = text.match(/<tr>[\s\S]*?<\/tr>/g) ?? []
  const found = rows.find((each) => each.includes(name)) ?? ''
  const cells = found.match(/<t[hd][^>]*>[\s\S]*?<\/t[hd]>/g) ?? []
  return cells.map((cell) => cell.replace(/<[^>]*>/g, '').trim())
}

const figure = (text: string, title: string) =>
  (text.match(/<figure[\s\S]*?<\/figure>/g) ?? []).find((each) => each.includes(title)) ?? ''

const verification = {
  command: 'node --test',
  failing_before: ['adds two prices'],
  passing_after: [],
  outcome: null,
}

describe('the costs page', () => {
  it('puts what is settled, sent and held against the budgets of project and day', async () => {
    await spend(ledger(1), 'run-yesterday', 1)
    const today = ledger(0)
    await spend(today, 'run-a', 0.5)
    await today.hold('run-b', '1.1', 0.25e6, LIMITS)
    await today.hold('run-c', '1.1', 0.125e6, LIMITS)
    await today.sent('run-c', '1.1')
    const live = await section('live')
    expect(row(live, 'the project')).toEqual([
      'the project',
      ...['$1.50', '$0.1250', '$0.2500', '$20.00', '$18.13', '9 %'],
    ])
    expect(row(live, 'today, 2026-11-30')).toEqual([
      'today, 2026-11-30 (UTC)',
      ...['$0.5000', '$0.1250', '$0.2500', '$10.00', '$9.13', '9 %'],
    ])
    expect(row(live, 'run-b')).toEqual([
      'run-b',
      ...['1', '$0.00', '$0.00', '$0.2500', '$2.00', '$1.75', '13 %'],
    ])
  })

  it('keeps what nobody pays apart from money, and from budgets', async () => {
    await spend(ledger(0, 'notional', 'offline-stand-in'), 'run-offline', 1.5)
    const [live, notional] = [await section('live'), await section('notional')]
    expect(live).toContain('Nothing in the last 30 days.')
    expect(row(live, 'the project')[1]).toBe('$0.00')
    expect(row(notional, 'the project')).toEqual(['the project', '$1.50', '$0.00', '$0.00'])
    expect(row(notional, 'offline-stand-in')).toEqual([
      'offline-stand-in',
      ...['1', '$1.50', '$0.00', '$0.00'],
    ])
  })

  it('draws each of the last 30 days, and says the same in a table beside it', async () => {
    await spend(ledger(0), 'run-today', 1)
    await spend(ledger(29), 'run-first', 0.5)
    await spend(ledger(30), 'run-before', 1.5)
    const live = await section('live')
    const days = figure(live, 'Dollars by UTC day')
    expect(days.match(/<g>/g)).toHaveLength(30)
    expect(days).toContain('aria-label="Dollars by UTC day, 30 days: at most $1.00.')
    expect(days).toContain('<title>11-01: $0.5000</title>')
    const heights = [
      ...days.matchAll(/chart-part-0" x="[^"]*" y="[^"]*" width="[^"]*" height="([^"]*)"/g),
    ]
    const [first, today] = heights.map((match) => Number(match[1]))
    expect(today).toBeCloseTo(2 * Number(first), 1)
    expect(row(live, '>2026-11-01<')[1]).toBe('$0.5000')
    expect(row(live, '>2026-10-31<')).toEqual([])
  })

  it('orders models by what they cost, and names as text what stands in their place', async () => {
    await spend(ledger(0, 'live', '<script>alert(1)</script>'), 'run-a', 0.1)
    await spend(ledger(0, 'live', 'gpt-6-astra'), 'run-b', 0.2)
    const live = await section('live')
    expect(live).not.toContain('<script>')
    const models = live.slice(live.indexOf('By model'), live.indexOf('By run'))
    expect(models.indexOf('>gpt-6-astra<')).toBeLessThan(models.lastIndexOf('&lt;script&gt;'))
    expect(row(live, 'run-a')[0]).toBe('run-a')
  })

  it('ends its axis at a round number, and names the day of now', async () => {
    await spend(ledger(0), 'run-today', 1.37)
    const days = figure(await section('live'), 'Dollars by UTC day')
    const texts = [...days.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text)
    expect(texts).toEqual(['$0', '$1', '$2', '11-06', '11-12', '11-18', '11-24', '11-30'])
  })

  it('names each run by its whole id, its workspace and the test that failed', async () => {
    const ids = [newRunId(now), newRunId(now)]
    for (const [i, run_id] of ids.entries()) {
      await spend(ledger(0), run_id, 0.1 * (i + 1))
      const view = sampleView({ run_id, workspace: `/home/somebody/shop-${i}`, verification })
      await createJournalStore(dashboard.deps.redis).publish(view)
    }
    const live = await section('live')
    const chart = figure(live, 'Dollars by run')
    for (const [i, id] of ids.entries()) {
      expect(chart).toContain(`>${id}, shop-${i}</text>`)
      expect(row(live, `/runs/${id}`)[0]).toBe(`${id}shop-${i}: adds two prices`)
    }
  })

  it('gives every table that can be scrolled a name of its own', async () => {
    await spend(ledger(0), 'run-a', 0.1)
    await spend(ledger(0, 'notional', 'offline-stand-in'), 'run-offline', 0.1)
    const text = (await section('live')) + (await section('notional'))
    const names = [...text.matchAll(/role="region" aria-label="([^"]+)"/g)].map((match) => match[1])
    expect(names).toHaveLength(8)
    expect(new Set(names).size).toBe(8)
  })

  it('uses no inline style and no inline script', async () => {
    await spend(ledger(0), 'run-a', 0.1)
    const response = await fetch(`${dashboard.url}/costs`, { headers: { cookie } })
    const text = await response.text()
    expect(text).not.toMatch(/ style=|<style|<script(?! type="module" src=)| on\w+=/)
  })
})
