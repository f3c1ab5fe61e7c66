import { describe, expect, it } from 'vitest'
import { callKey } from '../../services/agent-runner/journal/journal.ts'
import { resentItems } from '../../services/agent-runner/model/resent-items.ts'
import * as sim from '../support/simulated-run.ts'
import {
  call,
  edit,
  noMatches,
  read,
  SimulatedRun,
  search,
  tests,
  waitFor,
} from '../support/simulated-run.ts'
import {
  chains,
  exchangesOf,
  expectProtocolKept,
  expectSoundBodies,
  rebuiltBodies,
  recordSending,
} from '../support/wire-conversation.ts'
import { parseWire } from '../support/wire-schema.ts'

/** Whole conversations, by what is special about them. */
const conversations: Record<string, (run: SimulatedRun) => void> = {
  'a repair from search to store': (run) => {
    run.respond({ calls: [search('s', 'h'), read('r')] })
    run.respond({ calls: [waitFor('w', 'h')] })
    run.arrive('s', match)
    run.respond({ calls: [edit('e'), tests('t')] })
    run.arrive('t', sim.greenRun(sim.confirmed))
    run.respond({ calls: [store('m')] })
    run.arrive('m', { stored: true, memory_id: '3f1d7c9e-0000-5000-8000-000000000001' })
    run.respond({ text: 'Done.' })
  },
  'a search that is late by two requests': (run) => {
    run.respond({ calls: [search('s'), read('r1')] })
    run.respond({ calls: [read('r2')] })
    run.respond({ calls: [read('r3')] })
    run.arrive('s', noMatches)
    run.respond({ calls: [read('r4')] })
    run.respond({ text: 'I found nothing.' })
  },
  'two searches under one handle, one of which fails': (run) => {
    run.respond({ calls: [search('s1', 'h'), search('s2', 'h'), waitFor('w', 'h', 'nobody')] })
    run.arrive('s2', noMatches)
    run.journal.inbox.set(callKey('s1'), { ok: false, error: 'store down' })
    run.respond({ text: 'I found nothing.' })
  },
  'a search beside a final message': (run) => {
    run.respond({ calls: [search('s')], text: 'Done.' })
    run.arrive('s', noMatches)
    run.respond({ text: 'Done.' })
  },
  'a server that knows no async tools': (run) => {
    run.respond({ calls: [search('s', 'h', { async: false }), read('r')] })
    run.arrive('s', noMatches)
    run.respond({ text: 'I found nothing.' })
  },
  'a final answer before the memory, and the reminder': (run) => {
    run.respond({ text: 'It is the cache.' })
    run.respond({ calls: [search('s')] })
    run.arrive('s', noMatches)
    run.respond({ text: 'It is not the cache.' })
  },
  'calls that cannot be carried out': (run) => {
    const cut = call('run_tests', 'c', {}, { completed: false })
    run.respond({ calls: [call('no_such_tool', 'u'), cut, search('s')] })
    if (run.advance().kind === 'wait') run.arrive('c', sim.redBaseline)
    run.arrive('s', noMatches)
    run.respond({ calls: [call('read_file', 'b', { file: 1 })] })
    run.respond({ text: 'I give up.' })
  },
  'attempts that fail or are lost, while a result arrives': (run) => {
    run.send()
    run.respond({ calls: [search('s'), read('r')] })
    run.fail(run.send(), { final: false, code: 'http_500' })
    run.arrive('s', noMatches)
    run.send()
    run.respond({ text: 'I found nothing.' })
  },
}

const match = {
  matches: [
    {
      memory_id: '3f1d7c9e-0000-5000-8000-000000000001',
      score: 0.47,
      fix_description: 'Trim the "parts"\nof the setting.',
      error_type: 'AssertionError',
      file_paths: ['src/ä.ts'],
      outcome: 'node passed with exit code 0',
      timestamp: '2026-01-01T00:00:00.000Z',
      session_id: 'run-before',
      proved: true,
    },
  ],
  searched: 1,
}

const store = (id: string) =>
  call('store_fix_memory', id, {
    fix_description: 'Trim the parts.',
    error_type: 'AssertionError',
    file_paths: ['a.ts'],
    outcome: 'node passed with exit code 0',
  })

function converse(name: string, request: Parameters<typeof SimulatedRun.red>[0] = {}) {
  const run = SimulatedRun.red(request)
  const sent = recordSending(run)
  conversations[name]?.(run)
  return { run, sent }
}

describe.each(Object.keys(conversations))('%s', (name) => {
  it('is told in bodies that validate, and that the complete journal builds again', () => {
    const { run, sent } = converse(name)
    expect(sent.length).toBeGreaterThan(1)
    expectSoundBodies(run, sent)
  })

  it.each(chains)('keeps the protocol, chain %s', (chain) => {
    const { run, sent } = converse(name)
    const exchanges = exchangesOf(run.journal, sent, chain)
    expect(exchanges).toHaveLength(run.requests.length)
    expectProtocolKept(exchanges, chain)
  })
})

it('a tier is asked for only when one is set', () => {
  const { run } = converse('a search beside a final message')
  const bodies = (tier: 'flex' | null) =>
    rebuiltBodies(run.journal, { model: 'm', effort: 'low', chain: 'previous', tier })
  const asked = bodies('flex').map((body) => parseWire(JSON.parse(body)).service_tier)
  expect(asked).toEqual(['flex', 'flex'])
  expect(bodies(null).join()).not.toContain('service_tier')
})

describe('a conversation that is resent', () => {
  const last = (run: SimulatedRun, sent: ReturnType<typeof recordSending>) =>
    exchangesOf(run.journal, sent, 'resend').at(-1)?.body.input ?? []

  it('has a late result where it was delivered, not beside its call', () => {
    const { run, sent } = converse('a search that is late by two requests')
    const told = last(run, sent).map((item) =>
      'call_id' in item
        ? `${item.type === 'function_call' ? '' : '-> '}${item.call_id}`
        : item.type,
    )
    expect(told).toEqual([
      'message',
      ...['reasoning', 's', 'r1', '-> r1'],
      ...['reasoning', 'r2', '-> r2'],
      ...['reasoning', 'r3', '-> s', '-> r3'],
      ...['reasoning', 'r4', '-> r4'],
    ])
  })

  it('begins with the search that the runner made itself, when it made one', () => {
    const { run, sent } = converse('a search beside a final message', { recall: 'prefetch' })
    expect(JSON.stringify(last(run, sent)[0])).toContain('Memory search for this failure')
    expectSoundBodies(run, sent)
  })

  it('has the reminder between the two answers', () => {
    const { run, sent } = converse('a final answer before the memory, and the reminder')
    const spoken = last(run, sent).filter((item) => item.type === 'message' || 'role' in item)
    expect(spoken.map((item) => ('role' in item ? item.role : ''))).toEqual([
      'user',
      'assistant',
      'user',
    ])
  })

  it('gives reasoning back untouched, whatever is in it', () => {
    const thought = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [],
      content: null,
      encrypted_content: 'gAAAA==',
      status: null,
      of_a_later_version: { x: null },
    }
    expect(resentItems([thought])).toEqual([thought])
    expect(resentItems([thought])[0]).toBe(thought)
  })

  it('gives calls and messages back without the nulls that a request may not hold', () => {
    const made = { ...call('read_file', 'c'), type: 'function_call', status: null, namespace: null }
    const part = { type: 'output_text', text: 'null', annotations: [], logprobs: null }
    const said = { type: 'message', id: 'm', role: 'assistant', status: 'completed', phase: null }
    const [again, spoken] = resentItems([made, { ...said, content: [part] }])
    expect(again).toEqual({ ...call('read_file', 'c'), type: 'function_call' })
    expect(spoken).toEqual({
      type: 'message',
      id: 'm',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'null', annotations: [] }],
    })
  })
})
