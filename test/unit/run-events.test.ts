import { describe, expect, it } from 'vitest'
import { BASELINE, PREFETCH, verifyKey } from '../../services/agent-runner/journal/conversation.ts'
import {
  callDetails,
  requestDetails,
  responseDetails,
} from '../../services/agent-runner/journal/event-details.ts'
import { callKey } from '../../services/agent-runner/journal/journal.ts'
import { resultEvent } from '../../services/agent-runner/journal/result-event.ts'
import { refusalIn } from '../../services/agent-runner/tools/outputs.ts'
import { runEventSchema } from '../../shared/contracts/run-view.ts'
import {
  confirmed,
  greenRun,
  noMatches,
  redBaseline,
  SimulatedRun,
  search,
  unconfirmed,
} from '../support/simulated-run.ts'

const at = '2026-01-01T00:00:00.000Z'
const huge = 'x'.repeat(100_000)

/** The event as whoever reads it gets it. */
const read = (event: object | null) => runEventSchema.parse({ at, ...event })

const match = {
  memory_id: '6f9619ff-8b86-5011-b42d-00c04fc964ff',
  score: 0.8123,
  relevance: 'same',
  probability: 0.97,
  proved: true,
  fix_description: 'x'.repeat(4000),
  error_type: 'TypeError',
  file_paths: ['a.ts'],
  outcome: 'node passed with exit code 0',
  timestamp: at,
  session_id: 'run-before',
}

describe('an event', () => {
  it('of an earlier version is read as it was written', () => {
    const old = { type: 'call', at, text: 'read_file a.ts' }
    expect(runEventSchema.parse(old)).toEqual(old)
  })

  it('of a request names the calls that it answers, and the runner as who searched before it', () => {
    const run = SimulatedRun.red()
    run.respond({ calls: [search('c1')] })
    const step = { request: 3, attempt: 1, delivers: [PREFETCH, callKey('c1')], reminder: false }
    const details = requestDetails(run.journal, step, 10)
    expect(details.delivers).toEqual([
      { call_id: null, tool: 'search_codebase_memory' },
      { call_id: 'c1', tool: 'search_codebase_memory' },
    ])
    expect(read({ type: 'request', text: '', details }).details).toEqual(details)
  })

  it('of a response tells which calls are asynchronous, what it took, and an excerpt of its text', () => {
    const run = SimulatedRun.red()
    run.respond({ calls: [search('c1')], text: huge })
    const response = run.journal.responses.get('1')
    if (!response) throw new Error('no response')
    const details = responseDetails({ request: 1, attempt: 1 }, response, 5)
    expect(details).toMatchObject({
      calls: [{ call_id: 'c1', tool: 'search_codebase_memory', async: true }],
      tokens: { input: 10, output: 5 },
      cost_microusd: 5,
    })
    expect(details.text.length).toBe(1000)
    expect(read({ type: 'response', text: '', details }).details).toEqual(details)
  })

  it('of a call has room for an id and a name of any length', () => {
    const run = SimulatedRun.red()
    run.respond({ calls: [{ ...search(huge), name: huge }] })
    const [call] = run.calls
    if (!call) throw new Error('no call')
    const refusal = { code: 'unknown_tool', message: huge }
    const details = callDetails(call, huge, { waits: false, refusal })
    expect(read({ type: 'call', text: '', details }).details).toEqual(details)
  })

  it('reads the refusal in an output, and takes no content of a file for one', () => {
    const error = JSON.stringify({ error: { code: 'memory_gate', message: 'search first' } })
    expect(refusalIn(error)).toEqual({ code: 'memory_gate', message: 'search first' })
    expect(refusalIn(JSON.stringify({ path: 'a.json', content: error }))).toBeNull()
  })
})

describe('the event of a result', () => {
  const key = callKey('c1')
  const ok = (value: unknown) => ({ ok: true, value }) as const

  it('of a search tells its answer: same, similar, none or unavailable', () => {
    const answerOf = (entry: Parameters<typeof resultEvent>[2]) => {
      const { details } = read(resultEvent('search', key, entry))
      return details?.kind === 'search' ? details.answer : null
    }
    const similar = { ...match, relevance: 'similar' }
    expect(answerOf(ok({ matches: [similar, match], searched: 2 }))).toBe('same')
    expect(answerOf(ok({ matches: [similar], searched: 2 }))).toBe('similar')
    expect(answerOf(ok(noMatches))).toBe('none')
    expect(answerOf({ ok: false, error: huge })).toBe('unavailable')
  })

  it('of a green run tells whether it was proved, with what the receipt says', () => {
    const proved = read(resultEvent('tests', key, ok(greenRun(confirmed)))).details
    expect(proved).toMatchObject({
      kind: 'tests',
      purpose: 'run',
      call_id: 'c1',
      verdict: 'green',
      proof: { confirmed: true, receipt: { runner: 'node', canaries: 1, sandboxed: false } },
    })
    const refused = read(resultEvent('tests', key, ok(greenRun(unconfirmed)))).details
    expect(refused).toMatchObject({
      proof: { confirmed: false, reason: 'target_not_passing', receipt: null },
    })
  })

  it('of a baseline names failing tests, of which there may be any number', () => {
    const failing = Array.from({ length: 500 }, () => huge)
    const symptom = { ...redBaseline.symptom, failing, normalised: huge }
    const event = read(resultEvent('baseline', BASELINE, ok({ ...redBaseline, symptom })))
    expect(event).toMatchObject({ type: 'baseline', text: 'tests red: 2 passed, 1 failed' })
    expect(event.details).toMatchObject({ purpose: 'baseline', call_id: null, verdict: 'red' })
    expect(JSON.stringify(event).length).toBeLessThan(25_000)
  })

  it('of a verification of the runner and of a store that was refused say why', () => {
    expect(resultEvent('verify', verifyKey(1), ok(unconfirmed))?.text).toBe(
      'not proved: a still fails',
    )
    const refused = { stored: false, error: 'unconfirmed_outcome', message: 'no receipt' }
    const event = read(resultEvent('store', key, ok(refused)))
    expect(event.details).toMatchObject({ refusal: 'unconfirmed_outcome: no receipt' })
  })

  it('is left out where the result cannot be read', () => {
    expect(resultEvent('search', key, ok({ foreign: true }))).toBeNull()
  })
})
