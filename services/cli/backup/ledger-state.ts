import { z } from 'zod'
import {
  type Amounts,
  type Attempt,
  attemptsOf,
  type LedgerScope,
} from '../../../shared/contracts/ledger.ts'

const hash = z.record(z.string(), z.string())
const sortedSet = z.array(z.tuple([z.string(), z.number()]))

/** What Redis holds of one scope, as it holds it: see `ledgerKeys`. */
export const storedLedgerSchema = z.strictObject({
  project: hash,
  days: hash,
  open: sortedSet,
  runs: sortedSet,
  outbox: hash,
  /** The hash of each run, by run. */
  run: z.record(z.string(), hash),
})
export type StoredLedger = z.infer<typeof storedLedgerSchema>

export const ledgerPartSchema = z.strictObject({
  live: storedLedgerSchema,
  notional: storedLedgerSchema,
})
export type LedgerPart = Record<LedgerScope, StoredLedger>

/** `at`: the time of its last transition in ms, 0 where nobody kept it. */
export type LedgerAttempt = Attempt & { at: number }

export type LedgerRun = {
  /** Time in ms. */
  lastHold: number
  limit: string | null
  closed: string | null
  attempts: Map<string, LedgerAttempt>
}

/** One scope of a ledger, wherever it was read from. */
export type LedgerState = {
  seq: number
  project: Amounts
  days: Map<string, Amounts>
  runs: Map<string, LedgerRun>
  /** Lines of evidence that may not be written yet, by their number. */
  outbox: Map<string, string>
}

export const nothing = (): Amounts => ({ held: 0, sent: 0, settled: 0 })

/** Its hold counts, and its end is to come. */
export const isOpen = ({ state }: Attempt) => state === 'held' || state === 'sent'

/** What an attempt counts for, in the bucket of its state. */
export function amountsOf({ state, hold_microusd, cost_microusd }: Attempt): Amounts {
  return {
    held: state === 'held' ? hold_microusd : 0,
    sent: state === 'sent' ? hold_microusd : 0,
    settled: state === 'settled' ? cost_microusd : 0,
  }
}

export function combine(a: Amounts, b: Amounts, how: (a: number, b: number) => number): Amounts {
  return {
    held: how(a.held, b.held),
    sent: how(a.sent, b.sent),
    settled: how(a.settled, b.settled),
  }
}

export const sum = (a: number, b: number) => a + b

export function stateOf(stored: StoredLedger): LedgerState {
  const changed = new Map(stored.open)
  const lastHolds = new Map(stored.runs)
  const runs = Object.entries(stored.run).map(([id, fields]): [string, LedgerRun] => {
    const attempts = attemptsOf(fields).map((each): [string, LedgerAttempt] => [
      each.attempt,
      { ...each, at: changed.get(`${id} ${each.attempt}`) ?? 0 },
    ])
    const { limit = null, closed = null } = fields
    return [id, { lastHold: lastHolds.get(id) ?? 0, limit, closed, attempts: new Map(attempts) }]
  })
  return {
    seq: Number(stored.project.seq ?? 0),
    project: bucketsOf(stored.project, ''),
    days: daysOf(stored.days),
    runs: new Map(runs),
    outbox: new Map(Object.entries(stored.outbox)),
  }
}

function daysOf(fields: StoredLedger['days']): Map<string, Amounts> {
  const days = new Set(Object.keys(fields).map((field) => field.split(' ')[0] ?? ''))
  return new Map([...days].map((day) => [day, bucketsOf(fields, `${day} `)]))
}

function bucketsOf(fields: Record<string, string>, prefix: string): Amounts {
  const of = (bucket: string) => Number(fields[`${prefix}${bucket}`] ?? 0)
  return { held: of('held'), sent: of('sent'), settled: of('settled') }
}
