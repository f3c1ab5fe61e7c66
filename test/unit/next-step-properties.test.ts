import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callKey } from '../../services/agent-runner/journal/journal.ts'
import { histories, play } from '../support/generated-run.ts'

describe('whatever the model does and in whatever order results come', () => {
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
