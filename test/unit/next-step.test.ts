import { describe, expect, it } from 'vitest'
import { gateViolations } from '../../services/agent-runner/journal/gates.ts'
import { MAX_ATTEMPTS } from '../../services/agent-runner/journal/next-step.ts'
import * as sim from '../support/simulated-run.ts'
import {
  edit,
  noMatches,
  read,
  SimulatedRun,
  search,
  tests,
  waitFor,
} from '../support/simulated-run.ts'

const keys = (...ids: string[]) => ids.map((id) => `call:${id}`)

describe('before the model is asked', () => {
  it('asks for the baseline first and waits for it', () => {
    const run = new SimulatedRun()
    expect(run.advance()).toEqual({ kind: 'baseline' })
    run.journal.jobs.set('system:baseline', { at: '', tree: 0, patch: null })
    expect(run.advance()).toEqual({ kind: 'wait', for: ['system:baseline'] })
  })

  it('ends green tests as nothing_to_fix without a request', () => {
    const run = new SimulatedRun()
    const { symptom: _, ...counts } = sim.redBaseline
    run.arriveAt('system:baseline', { ...counts, kind: 'green' })
    expect(run.advance()).toMatchObject({ kind: 'finish', status: 'nothing_to_fix' })
  })

  it('ends unusable tests as failed with the reason of the test-runner', () => {
    const run = new SimulatedRun()
    const value = {
      kind: 'unusable',
      reason: 'runner_missing',
      message: 'install pytest',
      output: '',
    }
    run.arriveAt('system:baseline', value)
    expect(run.advance()).toMatchObject({ status: 'failed', reason: 'runner_missing' })
  })

  it('with prefetch recall searches before the first request and delivers the result with it', () => {
    const run = new SimulatedRun({ recall: 'prefetch' })
    run.arriveAt('system:baseline', sim.redBaseline)
    expect(run.advance()).toEqual({ kind: 'prefetch' })
    run.arriveAt('system:prefetch', noMatches)
    expect(run.advance()).toMatchObject({
      kind: 'request',
      request: 1,
      delivers: ['system:prefetch'],
    })
    expect(run.respond({ calls: [edit('e')] })).toMatchObject({ kind: 'request', request: 2 })
  })
})

describe('async searches', () => {
  it('goes on with ordinary outputs while a search is under way', () => {
    const run = SimulatedRun.red()
    const step = run.respond({ calls: [search('s'), read('r')] })
    expect(step).toMatchObject({ kind: 'request', request: 2, delivers: keys('r') })
  })

  it('delivers two searches on their own call ids first and the status of the wait last', () => {
    const run = SimulatedRun.red()
    run.respond({ calls: [search('s1', 'h1'), search('s2', 'h2'), read('r')] })
    expect(run.respond({ calls: [waitFor('w', 'h1', 'h2')] })).toEqual({
      kind: 'wait',
      for: keys('s1', 's2'),
    })
    run.arrive('s2', noMatches)
    expect(run.advance()).toEqual({ kind: 'wait', for: keys('s1') })
    run.arrive('s1', noMatches)
    expect(run.advance()).toMatchObject({ request: 3, delivers: keys('s1', 's2', 'w') })
  })

  it('sends a search and a wait of one response back together', () => {
    const run = SimulatedRun.red()
    expect(run.respond({ calls: [search('s', 'h'), waitFor('w', 'h')] })).toMatchObject({
      kind: 'wait',
    })
    run.arrive('s', noMatches)
    expect(run.advance()).toMatchObject({ request: 2, delivers: keys('s', 'w') })
  })

  it('delivers a late result once, in whichever request comes next', () => {
    const run = SimulatedRun.red()
    run.respond({ calls: [search('s'), read('r1')] })
    run.respond({ calls: [read('r2')] })
    const sent = run.send()
    run.arrive('s', noMatches)
    run.answer(sent, { calls: [read('r3')] })
    expect(run.advance()).toMatchObject({ request: 4, delivers: keys('s', 'r3') })
    expect(run.respond({ calls: [read('r4')] })).toMatchObject({ request: 5, delivers: keys('r4') })
  })

  it('waits for a search beside a final message and lets the model answer again', () => {
    const run = SimulatedRun.red()
    expect(run.respond({ calls: [search('s')], text: 'Done.' })).toEqual({
      kind: 'wait',
      for: keys('s'),
    })
    run.arrive('s', noMatches)
    expect(run.advance()).toMatchObject({ kind: 'request', request: 2, delivers: keys('s') })
  })

  it('treats a search without the async mark as an ordinary call', () => {
    const run = SimulatedRun.red()
    const ordinary = search('s', 'h', { async: false })
    expect(run.respond({ calls: [ordinary, read('r')] })).toEqual({ kind: 'wait', for: keys('s') })
    run.arrive('s', noMatches)
    expect(run.advance()).toMatchObject({ request: 2, delivers: keys('s', 'r') })
  })

  it('answers a wait for an unknown or an already delivered handle at once', () => {
    const run = SimulatedRun.red()
    run.respond({ calls: [search('s', 'h'), waitFor('w1', 'h')] })
    run.arrive('s', noMatches)
    const step = run.respond({ calls: [waitFor('w2', 'h', 'nobody')] })
    expect(step).toMatchObject({ request: 3, delivers: keys('w2') })
  })

  it('holds a handle that two searches bear open until both are there', () => {
    const run = SimulatedRun.red()
    run.respond({ calls: [search('s1', 'h'), search('s2', 'h'), waitFor('w', 'h')] })
    run.arrive('s1', noMatches)
    expect(run.advance()).toEqual({ kind: 'wait', for: keys('s2') })
    run.arrive('s2', noMatches)
    expect(run.advance()).toMatchObject({ delivers: keys('s1', 's2', 'w') })
  })

  it('delivers a failed search as an output and opens the gate with it', () => {
    const run = SimulatedRun.red()
    run.respond({ calls: [search('s')] })
    run.journal.inbox.set('call:s', { ok: false, error: 'store down' })
    run.respond({ calls: [edit('e')] })
    expect(run.respond({ text: 'Done.' })).toMatchObject({ kind: 'verify', tree: 1 })
  })
})

describe('a call that was cut off', () => {
  it('is answered as aborted in the next request and is not carried out', () => {
    const run = SimulatedRun.red()
    const cut = sim.call('apply_edit', 'cut', {}, { completed: false })
    const step = run.respond({ calls: [search('s'), cut, read('r')], status: 'incomplete' })
    expect(step).toMatchObject({ kind: 'request', request: 2, delivers: keys('cut', 'r') })
    expect(run.journal.outputs.get('call:cut')?.output).toBe('aborted')
    expect(run.journal.edits.size).toBe(0)
  })
})

describe('the memory gate', () => {
  it('reminds once of a final answer before the memory, and ends the run at the second', () => {
    const run = SimulatedRun.red()
    expect(run.respond({ text: 'It is the cache.' })).toMatchObject({ request: 2, reminder: true })
    expect(run.respond({ text: 'Still the cache.' })).toMatchObject({
      status: 'failed',
      reason: 'memory_gate',
    })
  })

  it('ends the run at the second response that edits before the memory', () => {
    const run = SimulatedRun.red()
    expect(run.respond({ calls: [edit('e1'), edit('e2')] })).toMatchObject({ kind: 'request' })
    expect(run.respond({ calls: [edit('e3')] })).toMatchObject({
      status: 'failed',
      reason: 'memory_gate',
    })
  })

  it('does not count a search whose result was not delivered in an earlier request', () => {
    const run = SimulatedRun.red()
    run.respond({ calls: [search('s'), edit('e1')] })
    run.arrive('s', noMatches)
    run.respond({ calls: [edit('e2')] })
    expect(gateViolations(run.journal)).toBe(1)
  })

  it('sends the reminder again when its request was lost, without counting twice', () => {
    const run = SimulatedRun.red()
    run.respond({ text: 'It is the cache.' })
    run.send()
    expect(run.advance()).toMatchObject({ request: 2, attempt: 2, reminder: true })
  })
})

describe('the end of a run', () => {
  const searched = () => {
    const run = SimulatedRun.red()
    run.respond({ calls: [search('s')] })
    run.arrive('s', noMatches)
    return run
  }

  it('verifies the tree at a final answer and is fixed only when that is confirmed', () => {
    const run = searched()
    run.respond({ calls: [edit('e')] })
    expect(run.respond({ text: 'Done.' })).toEqual({ kind: 'verify', tree: 1 })
    run.verified(1, sim.confirmed)
    expect(run.advance()).toMatchObject({ status: 'fixed', reason: 'tests_pass', text: 'Done.' })
  })

  it('is not fixed when the verification is not confirmed, whatever the model says', () => {
    const run = searched()
    run.respond({ calls: [edit('e')] })
    run.respond({ text: 'All tests pass.' })
    run.verified(1, sim.unconfirmed)
    expect(run.advance()).toMatchObject({ status: 'not_fixed', reason: 'tests_fail' })
  })

  it('does not verify a tree again that run_tests verified, but does after another edit', () => {
    const run = searched()
    run.respond({ calls: [edit('e'), tests('t')] })
    run.arrive('t', sim.greenRun(sim.confirmed))
    const sent = run.send()
    run.answer(sent, { text: 'Done.' })
    expect(run.advance()).toMatchObject({ status: 'fixed' })

    const other = searched()
    other.respond({ calls: [edit('e'), tests('t')] })
    other.arrive('t', sim.greenRun(sim.confirmed))
    other.respond({ calls: [edit('e2')] })
    expect(other.respond({ text: 'Done.' })).toEqual({ kind: 'verify', tree: 2 })
  })

  it('without an edit is not_fixed and no test is run again', () => {
    const run = searched()
    expect(run.respond({ text: 'I found nothing.' })).toMatchObject({
      status: 'not_fixed',
      reason: 'no_edit',
    })
  })

  it('an incomplete answer ends the run by its limit, a filtered one as refused by the model', () => {
    const cut = { status: 'incomplete', detail: 'max_output_tokens' } as const
    expect(searched().respond(cut)).toMatchObject({ status: 'limit_reached', reason: 'max_tokens' })
    const filtered = { status: 'incomplete', detail: 'content_filter' } as const
    expect(searched().respond(filtered)).toMatchObject({
      status: 'failed',
      reason: 'model_refused',
    })
  })

  it('a cancel or a deadline ends it at the next step, wherever it is', () => {
    const cancelled = searched()
    cancelled.mark('cancel', 'on request')
    expect(cancelled.advance()).toMatchObject({ status: 'cancelled' })
    const late = searched()
    late.mark('deadline', 'too late')
    expect(late.advance()).toMatchObject({ status: 'limit_reached', reason: 'time' })
  })
})

describe('attempts and limits', () => {
  it('repeats a request that was lost in a crash, and one that failed, up to the limit', () => {
    const run = SimulatedRun.red()
    run.send()
    for (let attempt = 2; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const step = run.send()
      expect(step).toMatchObject({ request: 1, attempt })
      run.fail(step, { final: false, code: 'http_500' })
    }
    expect(run.advance()).toMatchObject({ status: 'failed', reason: 'model_error' })
  })

  it('fetches a background attempt instead of sending it again, until it has an end', () => {
    const run = SimulatedRun.red()
    const step = run.send()
    run.journal.background.set('1.1', { at: '', id: 'resp_bg' })
    expect(run.advance()).toEqual({ kind: 'retrieve', request: 1, attempt: 1, id: 'resp_bg' })
    run.fail(step, { final: false, code: 'timeout' })
    expect(run.advance()).toMatchObject({ kind: 'request', request: 1, attempt: 2 })
  })

  it('does not repeat a final fault', () => {
    const run = SimulatedRun.red()
    run.fail(run.send(), { final: true, code: 'insufficient_quota' })
    expect(run.advance()).toMatchObject({ status: 'failed', reason: 'model_error' })
  })

  it('takes up results that arrived while a request failed', () => {
    const run = SimulatedRun.red()
    run.respond({ calls: [search('s'), read('r')] })
    run.fail(run.send(), { final: false, code: 'http_500' })
    run.arrive('s', noMatches)
    expect(run.advance()).toMatchObject({ request: 2, attempt: 2, delivers: keys('s', 'r') })
  })

  it('ends at the limits of requests, of tool calls and of tokens', () => {
    const limits = { ...sim.runRequest.limits }
    const requests = SimulatedRun.red({ limits: { ...limits, max_requests: 1 } })
    expect(requests.respond({ calls: [read('r')] })).toMatchObject({ reason: 'max_requests' })
    const calls = SimulatedRun.red({ limits: { ...limits, max_tool_calls: 1 } })
    expect(calls.respond({ calls: [read('a'), read('b')] })).toMatchObject({
      reason: 'max_tool_calls',
    })
    const tokens = SimulatedRun.red({ limits: { ...limits, max_tokens: 1000 } })
    expect(tokens.respond({ calls: [read('r')], inputTokens: 1000 })).toMatchObject({
      reason: 'max_tokens',
    })
  })
})
