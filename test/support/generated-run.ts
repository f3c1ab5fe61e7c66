import fc from 'fast-check'
import { callKey } from '../../services/agent-runner/journal/journal.ts'
import type { Step } from '../../services/agent-runner/journal/next-step.ts'
import * as sim from './simulated-run.ts'
import {
  call,
  edit,
  noMatches,
  read,
  SimulatedRun,
  search,
  type Turn,
  tests,
  waitFor,
} from './simulated-run.ts'

/** One thing that may happen next: the model answers, a request fails or is lost, a result comes. */
type Happening =
  | { kind: 'turn'; calls: number[]; handles: string[]; text: boolean }
  | { kind: 'fault'; final: boolean }
  | { kind: 'lost' }
  | { kind: 'arrive'; pick: number; ok: boolean; again: boolean }

const handle = fc.constantFrom('h1', 'h2', 'h3', 'nobody')
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('turn' as const),
      calls: fc.array(fc.nat(6), { maxLength: 4 }),
      handles: fc.array(handle, { minLength: 1, maxLength: 3 }),
      text: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('fault' as const), final: fc.constant(false) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lost' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('arrive' as const),
      pick: fc.nat(10),
      ok: fc.boolean(),
      again: fc.boolean(),
    }),
  },
)

function turnOf(
  run: SimulatedRun,
  { calls, handles, text }: Extract<Happening, { kind: 'turn' }>,
): Turn {
  const first = run.calls.length
  return {
    text: text ? 'Done.' : '',
    calls: calls.map((choice, index) => {
      const id = `c${first + index}`
      const chosen = handles[index % handles.length] ?? 'h1'
      const made = [
        () => search(id, chosen),
        () => search(id, chosen, { async: false }),
        () => waitFor(id, ...handles),
        () => read(id),
        () => edit(id),
        () => tests(id),
        () => call('no_such_tool', id),
      ]
      return (made[choice] ?? (() => read(id)))()
    }),
  }
}

/** Jobs whose result is not there yet. */
function openJobs(run: SimulatedRun): string[] {
  return [...run.journal.jobs.keys()].filter((key) => !run.journal.inbox.has(key))
}

function arrive(run: SimulatedRun, key: string, ok: boolean): void {
  const name = run.calls.find((each) => callKey(each.call_id) === key)?.name
  const value = name === 'run_tests' ? sim.greenRun(sim.unconfirmed) : noMatches
  if (ok) run.arriveAt(key, value)
  else if (!run.journal.inbox.has(key)) run.journal.inbox.set(key, { ok: false, error: 'down' })
}

/** Plays the happenings, then lets everything arrive and the model give up, until the run ends. */
export function play(
  happenings: Happening[],
  run = SimulatedRun.red(),
): { run: SimulatedRun; end: Step } {
  for (const each of happenings) {
    if (run.advance().kind === 'finish') break
    apply(run, each)
  }
  for (let round = 0; round < 60; round += 1) {
    const step = run.advance()
    if (step.kind === 'finish') return { run, end: step }
    if (step.kind === 'verify') run.verified(step.tree, sim.unconfirmed)
    for (const key of openJobs(run)) arrive(run, key, true)
    if (step.kind === 'request') run.answer(run.send(), { text: 'I give up.' })
  }
  throw new Error(`no end: ${JSON.stringify(run.advance())}`)
}

function apply(run: SimulatedRun, each: Happening): void {
  const step = run.advance()
  if (each.kind === 'arrive') {
    const open = openJobs(run)
    const key = open[each.pick % Math.max(1, open.length)]
    if (key === undefined) return
    arrive(run, key, each.ok)
    if (each.again) arrive(run, key, !each.ok)
    return
  }
  if (step.kind !== 'request') return
  const sent = run.send()
  if (each.kind === 'turn') run.answer(sent, turnOf(run, each))
  if (each.kind === 'fault') run.fail(sent, { final: each.final, code: 'http_500' })
}

/** What may happen in a run, in any order. */
export const histories = fc.array(happening, { maxLength: 40 })
