import pc from 'picocolors'
import { describe, expect, it } from 'vitest'
import { printCosts } from '../../services/cli/format/format-costs.ts'
import { attemptsOf, lastDays } from '../../shared/contracts/ledger.ts'
import type { Costs, ScopeCosts } from '../../shared/read-costs.ts'

const booked = { held_microusd: 1, sent_microusd: 20, settled_microusd: 300 }
const budget = { ...booked, limit_microusd: null, left_microusd: null }
const scope = (changes: Partial<ScopeCosts> = {}): ScopeCosts => ({
  project: budget,
  today: { day: '2026-11-29', ...budget },
  days: [],
  models: [],
  runs: [],
  ...changes,
})

function printed(costs: Costs, run: string | null = null): string {
  const lines: string[] = []
  const print = (line: string) => void lines.push(line)
  const silent = () => {}
  const style = pc.createColors(false)
  printCosts({ json: false, style, print, printJson: silent, note: silent }, costs, run)
  return lines.join('\n')
}

describe('costs for people', () => {
  it('has money and what nobody pays in tables of their own', () => {
    const text = printed({ live: scope(), notional: scope() })
    const [live = '', notional = ''] = text.split('\n\nnotional')
    expect(live).toMatch(/^live: money/)
    expect(live).toMatch(/Budget +Left/)
    expect(notional).toMatch(/nobody pays/)
    expect(notional).not.toMatch(/Budget/)
    expect(notional).toMatch(/project +\$0\.000300 +\$0\.000020 +\$0\.000001$/m)
  })

  it('shows the newest 30 runs and says how many more there are', () => {
    const runs = Array.from({ length: 33 }, (_, i) => ({
      run_id: `run-${i}`,
      ...budget,
      attempts: [],
    }))
    const text = printed({ live: scope({ runs }), notional: scope() })
    expect(text).toContain('run-29')
    expect(text).not.toContain('run-30')
    expect(text).toContain('and 3 more')
  })

  it("lets no model's name steer the terminal", () => {
    const models = [{ model: 'a\u001b[2Jb\nc', attempts: 1, ...booked }]
    expect(printed({ live: scope({ models }), notional: scope() })).toMatch(/^ab c +1/m)
  })
})

describe('the read side of the ledger', () => {
  it('orders attempts by request and then by attempt, as numbers', () => {
    const text = 'settled 2 1 2026-11-29 m'
    const attempts = attemptsOf({ held: '0', '10.1': text, '2.10': text, '2.9': text, limit: '5' })
    expect(attempts.map((each) => each.attempt)).toEqual(['2.9', '2.10', '10.1'])
  })

  it('takes a model of several words as one, and says when it cannot read an attempt', () => {
    const [attempt] = attemptsOf({ '1.1': 'sent 2 0 2026-11-29 my own model' })
    expect(attempt).toMatchObject({ state: 'sent', hold_microusd: 2, model: 'my own model' })
    expect(() => attemptsOf({ '1.1': 'lost' })).toThrow(/1\.1 lost/)
  })

  it('counts days in UTC, also over the end of a month', () => {
    const now = new Date('2026-12-01T00:00:00.000Z')
    expect(lastDays(now, 3)).toEqual(['2026-12-01', '2026-11-30', '2026-11-29'])
  })
})
