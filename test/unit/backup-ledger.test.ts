import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  amountsOf,
  combine,
  type LedgerAttempt,
  type LedgerRun,
  type LedgerState,
  nothing,
  sum,
} from '../../services/cli/backup/ledger-state.ts'
import { mergeLedgers } from '../../services/cli/backup/merge-ledgers.ts'
import type { Amounts } from '../../shared/contracts/ledger.ts'

const now = new Date('2026-12-01T12:00:00Z')
const HOUR_MS = 3600 * 1000
const DAY_MS = 24 * HOUR_MS

type Move = { run: number; attempt: number; hold: number; cost: number; to: LedgerAttempt['state'] }

const move: fc.Arbitrary<Move> = fc.record({
  run: fc.integer({ min: 0, max: 3 }),
  attempt: fc.integer({ min: 1, max: 3 }),
  hold: fc.integer({ min: 1, max: 100 }),
  cost: fc.integer({ min: 0, max: 100 }),
  to: fc.constantFrom('held', 'sent', 'settled', 'released'),
})

/** Run 0 is older than the ledger keeps runs. */
const ageOf = (run: number) => (run === 0 ? 200 * DAY_MS : run * DAY_MS)
const timeOf = (run: number) => now.getTime() - ageOf(run)
const dayOf = (run: number) => new Date(timeOf(run)).toISOString().slice(0, 10)

/** A ledger after these transitions, made as the ledger's script makes them. */
function ledgerOf(moves: readonly Move[]): LedgerState {
  const runs = new Map<string, LedgerRun>()
  let seq = 0
  for (const { run, attempt, hold, cost, to } of moves) {
    const id = `run-${run}`
    const known = runs.get(id)?.attempts.get(`1.${attempt}`)
    if (!follows(known?.state, to)) continue
    seq += 1
    const entry = runs.get(id) ?? {
      lastHold: timeOf(run),
      limit: '1',
      closed: null,
      attempts: new Map(),
    }
    entry.attempts.set(`1.${attempt}`, {
      attempt: `1.${attempt}`,
      state: to,
      hold_microusd: known?.hold_microusd ?? hold,
      cost_microusd: to === 'settled' ? Math.min(cost, known?.hold_microusd ?? hold) : 0,
      day: dayOf(run),
      model: 'gpt-6-astra',
      at: timeOf(run),
    })
    runs.set(id, entry)
  }
  return { seq, ...totalsOf(runs), runs, outbox: new Map() }
}

function follows(from: LedgerAttempt['state'] | undefined, to: LedgerAttempt['state']): boolean {
  if (to === 'held') return from === undefined
  if (to === 'settled') return from === 'held' || from === 'sent'
  return from === 'held'
}

function totalsOf(runs: LedgerState['runs']): Pick<LedgerState, 'project' | 'days'> {
  const totals = { project: nothing(), days: new Map<string, Amounts>() }
  for (const attempt of [...runs.values()].flatMap((run) => [...run.attempts.values()])) {
    const own = amountsOf(attempt)
    totals.project = combine(totals.project, own, sum)
    totals.days.set(attempt.day, combine(totals.days.get(attempt.day) ?? nothing(), own, sum))
  }
  return totals
}

/** As Redis keeps it after 90 days: the totals, and not the run. */
function forgetOldRuns(state: LedgerState): LedgerState {
  const runs = [...state.runs].filter(([, run]) => run.lastHold > now.getTime() - 90 * DAY_MS)
  return { ...state, runs: new Map(runs) }
}

const plain = ({ project, days, runs }: LedgerState) => ({
  project,
  days: Object.fromEntries(
    [...days].filter(([, each]) => each.held + each.sent + each.settled > 0),
  ),
  runs: Object.fromEntries(
    [...runs].map(([id, run]) => [id, Object.fromEntries(run.attempts)] as const),
  ),
})

/** Two ledgers that were one until they went apart, as after a restore. */
const apart = fc.tuple(fc.array(move), fc.array(move), fc.array(move))

describe('ledgers that are merged', () => {
  it('never have less settled than any of them, in all, on a day, or for an attempt', () => {
    const property = fc.property(apart, ([common, here, there]) => {
      const states = [ledgerOf([...common, ...here]), ledgerOf([...common, ...there])]
      const merged = mergeLedgers(states, now)
      for (const state of states) {
        expect(merged.project.settled).toBeGreaterThanOrEqual(state.project.settled)
        expect(merged.seq).toBeGreaterThanOrEqual(state.seq)
        for (const [day, { settled }] of state.days) {
          expect(merged.days.get(day)?.settled ?? 0).toBeGreaterThanOrEqual(settled)
        }
      }
    })
    fc.assert(property)
  })

  it('forget no request that was sent: it is sent or settled afterwards', () => {
    const property = fc.property(apart, ([common, here, there]) => {
      const states = [ledgerOf([...common, ...here]), ledgerOf([...common, ...there])]
      const merged = mergeLedgers(states, now)
      for (const [id, run] of states.flatMap((state) => [...state.runs])) {
        for (const [key, { state }] of run.attempts) {
          if (state !== 'sent') continue
          expect(merged.runs.get(id)?.attempts.get(key)?.state).toMatch(/^(sent|settled)$/)
        }
      }
    })
    fc.assert(property)
  })

  it('are the later one when one is the past of the other, with old runs forgotten or not', () => {
    const property = fc.property(fc.array(move), fc.array(move), (past, since) => {
      const later = ledgerOf([...past, ...since])
      const earlier = ledgerOf(past)
      const whole = plain(mergeLedgers([later], now))
      expect(whole.project).toEqual(plain(later).project)
      expect(whole.days).toEqual(plain(later).days)
      const both = plain(mergeLedgers([earlier, later], now))
      expect({ ...both, runs: null }).toEqual({ ...whole, runs: null })
      if (!hasOldOpen(earlier)) expect(both.runs).toEqual(whole.runs)
      const kept = plain(mergeLedgers([forgetOldRuns(later)], now))
      for (const [a, b] of [
        [earlier, forgetOldRuns(later)],
        [forgetOldRuns(later), earlier],
      ] as const) {
        const merged = plain(mergeLedgers([a, b], now))
        // An attempt of an old run that was open in the past is the only thing that is still told apart.
        if (!hasOldOpen(earlier)) expect(merged).toEqual(kept)
        expect(merged.project.settled).toBeGreaterThanOrEqual(kept.project.settled)
      }
    })
    fc.assert(property)
  })

  it('have totals that are the sum of what is in them', () => {
    const property = fc.property(apart, ([common, here, there]) => {
      const states = [ledgerOf([...common, ...here]), ledgerOf([...common, ...there])]
      const young = states.map((state) => ledgerWithout(state, 'run-0'))
      const merged = mergeLedgers(young, now)
      const { project, days } = plain(merged)
      const expected = plain({ ...merged, ...totalsOf(merged.runs) })
      expect({ project, days }).toEqual({ project: expected.project, days: expected.days })
    })
    fc.assert(property)
  })
})

const hasOldOpen = (state: LedgerState) =>
  [...(state.runs.get('run-0')?.attempts.values() ?? [])].some(
    (each) => each.state === 'held' || each.state === 'sent',
  )

function ledgerWithout(state: LedgerState, id: string): LedgerState {
  const runs = new Map([...state.runs].filter(([each]) => each !== id))
  return { ...state, runs, ...totalsOf(runs) }
}
