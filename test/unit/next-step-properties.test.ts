import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callKey } from '../../services/agent-runner/journal/journal.ts'
import type { Step } from '../../services/agent-runner/journal/next-step.ts'
import * as sim from '../support/simulated-run.ts'
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
} from '../support/simulated-run.ts'

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
function play(happenings: Happening[]): { run: SimulatedRun; end: Step } {
  const run = SimulatedRun.red()
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

describe('whatever the model does and in whatever order results come', () => {
  const histories = fc.array(happening, { maxLength: 40 })

  it('a run always ends', () => {
    fc.assert(
      fc.property(histories, (history) => play(history).end.kind === 'finish'),
      { numRuns: 500 },
    )
  })

  it('every ordinary call of an answered request is answered exactly once, in the next request', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { run } = play(history)
        for (const [index, request] of run.requests.slice(1).entries()) {
          const previous = run.requests[index]
          const ordinary = run.calls.filter(
            (each) => each.request === previous?.request && !each.async,
          )
          for (const each of ordinary) {
            const times = request.delivers.filter((key) => key === callKey(each.call_id)).length
            expect(times, `${each.name} ${each.call_id}`).toBe(1)
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  it('no output is delivered twice, none before its call, and none to a call that is not there', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { run } = play(history)
        const delivered = run.requests.flatMap((request) => request.delivers)
        expect(new Set(delivered).size).toBe(delivered.length)
        for (const request of run.requests) {
          for (const key of request.delivers) {
            const made = run.calls.find((each) => callKey(each.call_id) === key)
            expect(made?.request).toBeLessThan(request.request)
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  it('a wait is told to be over only when the results it waited for went before it', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { run } = play(history)
        const order = run.requests.flatMap((request) => request.delivers)
        for (const wait of run.calls.filter((each) => each.name === 'wait_for_tasks')) {
          const place = order.indexOf(callKey(wait.call_id))
          if (place < 0) continue
          const handles: string[] = JSON.parse(wait.arguments).task_handles
          const searches = run.calls.filter(
            (each) =>
              each.name === 'search_codebase_memory' &&
              each.request <= wait.request &&
              handles.includes(JSON.parse(each.arguments).task_handle),
          )
          for (const each of searches) {
            const at = order.indexOf(callKey(each.call_id))
            expect(at, `${each.call_id} before ${wait.call_id}`).toBeGreaterThanOrEqual(0)
            expect(at).toBeLessThan(place)
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  it('no response is ever continued twice', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const numbers = play(history).run.requests.map((request) => request.request)
        expect(numbers).toEqual(numbers.map((_, index) => index + 1))
      }),
      { numRuns: 500 },
    )
  })
})
