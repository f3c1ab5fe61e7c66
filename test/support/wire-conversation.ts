import { expect } from 'vitest'
import type { ModelSettings, ResponseEntry } from '../../services/agent-runner/journal/entries.ts'
import {
  attemptKey,
  type Journal,
  readJournal,
} from '../../services/agent-runner/journal/journal.ts'
import { type RequestStep, requestBody } from '../../services/agent-runner/model/request.ts'
import type { SimulatedRun } from './simulated-run.ts'
import { parseWire, type WireBody, type WireItem } from './wire-schema.ts'

export const chains = ['previous', 'resend'] as const
type Chain = (typeof chains)[number]

const settingsOf = (chain: Chain): ModelSettings => ({
  model: 'gpt-6-astra',
  effort: 'low',
  chain,
  tier: null,
})

/** A request as it left: its number and attempt, and its body in both kinds of chain. */
type Sent = { step: RequestStep; bodies: Record<Chain, string> }

/** What `run` sends from now on, taken down at the moment of sending. */
export function recordSending(run: SimulatedRun): Sent[] {
  const sent: Sent[] = []
  run.onSend = (step) => sent.push(sendingOf(run.journal, step))
  return sent
}

function sendingOf(journal: Journal, step: RequestStep): Sent {
  const body = (chain: Chain) => JSON.stringify(requestBody(journal, step, settingsOf(chain)))
  return { step, bodies: { previous: body('previous'), resend: body('resend') } }
}

/** Every body is one that the service takes, and one that the complete journal gives again. */
export function expectSoundBodies(run: SimulatedRun, sent: readonly Sent[]): void {
  const later = storedAndRead(run)
  for (const { step, bodies } of sent) {
    for (const chain of chains) {
      parseWire(JSON.parse(bodies[chain]))
      const again = requestBody(later, journalledStep(later, step), settingsOf(chain))
      expect(JSON.stringify(again), `request ${step.request}.${step.attempt}, ${chain}`).toBe(
        bodies[chain],
      )
    }
  }
}

/** The bodies of all requests that were sent, oldest first, from the journal of a run that has ended. */
export function rebuiltBodies(journal: Journal, settings: ModelSettings): string[] {
  const attempts = [...journal.sent.keys()].map((key) => key.split('.').map(Number))
  return attempts
    .sort(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d)
    .map(([request = 0, attempt = 0]) => journalledStep(journal, { request, attempt }))
    .map((step) => JSON.stringify(requestBody(journal, step, settings)))
}

/** The step as the journal has it: a rebuild knows nothing else. */
function journalledStep(
  journal: Journal,
  { request, attempt }: Pick<RequestStep, 'request' | 'attempt'>,
): RequestStep {
  const entry = journal.sent.get(attemptKey(request, attempt))
  if (!entry) throw new Error(`request ${request}.${attempt} is not in the journal`)
  const { delivers, reminder } = entry
  return { kind: 'request', request, attempt, delivers, reminder }
}

/** The journal after it was written to Redis and read back, where fields come in any order. */
function storedAndRead({ fields, journal }: SimulatedRun): Journal {
  const inbox = [...journal.inbox].map(([key, entry]) => [key, JSON.stringify(entry)] as const)
  const reversed = (pairs: (readonly [string, string])[]) => Object.fromEntries(pairs.reverse())
  return readJournal(reversed(Object.entries(fields)), reversed(inbox))
}

/** One exchange as the service saw it: a body that it answered, and the answer. */
type Exchange = { body: WireBody; response: ResponseEntry }

/** The answered requests of the run in their order; attempts that came to nothing are left out. */
export function exchangesOf(journal: Journal, sent: readonly Sent[], chain: Chain): Exchange[] {
  return sent.flatMap(({ step, bodies }) => {
    const response = journal.responses.get(String(step.request))
    if (response?.attempt !== step.attempt) return []
    return [{ body: parseWire(JSON.parse(bodies[chain])), response }]
  })
}

/**
 * Holds a conversation to the protocol as the service would: one chain, every output for a call that
 * was made before and has none yet, ordinary calls answered in the very next request, waits last.
 */
export function expectProtocolKept(exchanges: readonly Exchange[], chain: Chain): void {
  const calls = new Map<string, { name: string; async: boolean }>()
  const answered = new Set<string>()
  let before: Exchange | null = null
  for (const exchange of exchanges) {
    const added = addedItems(exchange, before, chain)
    expectOutputsInPlace(added, calls, answered)
    const open = [...calls].filter(([id, call]) => !call.async && !answered.has(id))
    expect(open, 'ordinary calls without an output').toEqual([])
    for (const call of exchange.response.calls) calls.set(call.call_id, call)
    before = exchange
  }
}

/** What this request added to the conversation, after the rest was found to be what it must be. */
function addedItems(exchange: Exchange, before: Exchange | null, chain: Chain): WireItem[] {
  const { body } = exchange
  if (chain === 'previous') {
    expect(body.previous_response_id).toBe(before?.response.id)
    return body.input
  }
  expect(body).not.toHaveProperty('previous_response_id')
  expect(body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
  const said = before ? [...before.body.input, ...before.response.output] : []
  expect(body.input.slice(0, said.length)).toEqual(said)
  return body.input.slice(said.length)
}

function expectOutputsInPlace(
  added: readonly WireItem[],
  calls: ReadonlyMap<string, { name: string }>,
  answered: Set<string>,
): void {
  let waits = 0
  for (const item of added) {
    if (item.type !== 'function_call_output') {
      expect(item, 'only the user and the tools speak between responses').toHaveProperty(
        'role',
        'user',
      )
      continue
    }
    const name = calls.get(item.call_id)?.name
    expect(name, `${item.call_id} was called before`).toBeDefined()
    expect(answered.has(item.call_id), `${item.call_id} is answered once`).toBe(false)
    answered.add(item.call_id)
    if (name === 'wait_for_tasks') waits += 1
    else expect(waits, `${item.call_id} comes before the status of a wait`).toBe(0)
  }
}
