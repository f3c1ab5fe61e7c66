import fc from 'fast-check'
import { describe, it } from 'vitest'
import { histories, play } from '../support/generated-run.ts'
import { SimulatedRun } from '../support/simulated-run.ts'
import {
  chains,
  exchangesOf,
  expectProtocolKept,
  expectSoundBodies,
  recordSending,
} from '../support/wire-conversation.ts'

function played(history: Parameters<typeof play>[0]) {
  const run = SimulatedRun.red()
  const sent = recordSending(run)
  play(history, run)
  return { run, sent }
}

describe('whatever the model does and in whatever order results come', () => {
  it('each body validates, and is built again from the complete journal byte for byte', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { run, sent } = played(history)
        expectSoundBodies(run, sent)
      }),
      { numRuns: 200 },
    )
  })

  it.each(chains)('the conversation keeps the protocol, chain %s', (chain) => {
    fc.assert(
      fc.property(histories, (history) => {
        const { run, sent } = played(history)
        expectProtocolKept(exchangesOf(run.journal, sent, chain), chain)
      }),
      { numRuns: 200 },
    )
  })
})
