import { describe, expect, it } from 'vitest'
import { BASELINE, PREFETCH } from '../../services/agent-runner/journal/conversation.ts'
import { addEntry } from '../../services/agent-runner/journal/journal.ts'
import { viewOf } from '../../services/agent-runner/journal/run-view.ts'
import { errorOutput } from '../../services/agent-runner/tools/outputs.ts'
import { runViewSchema } from '../../shared/contracts/run-view.ts'
import { call, SimulatedRun, search, tests } from '../support/simulated-run.ts'

const at = '2026-01-01T00:00:00.000Z'
const noPatch = { diff: null, hash: null }
const job = { at, tree: 0, patch: null }

describe('what a view counts', () => {
  it('test jobs: the baseline, runs of the model that were begun, and verifications', () => {
    const run = SimulatedRun.red()
    addEntry(run.journal, `job/${BASELINE}`, job)
    run.respond({ calls: [tests('t1'), tests('t2'), search('s1')] })
    addEntry(run.journal, 'job/system:verify-0', job)
    expect(viewOf(run.journal, noPatch).tests).toBe(4)
  })

  it('refusals of the gates, and no other errors nor texts that read like one', () => {
    const run = SimulatedRun.red()
    const outputs = {
      a: errorOutput('memory_gate', 'no search'),
      b: errorOutput('confirmed_fix_gate', 'not proved'),
      c: errorOutput('path_refused', 'outside'),
      d: JSON.stringify({ path: 'x', content: errorOutput('memory_gate', 'quoted') }),
    }
    for (const [id, output] of Object.entries(outputs)) {
      addEntry(run.journal, `output/call:${id}`, { at, output })
    }
    expect(viewOf(run.journal, noPatch).gate_refusals).toBe(2)
    run.respond({ text: 'done, without any search' })
    run.respond({ calls: [call('list_project_files', 'l')] })
    expect(viewOf(run.journal, noPatch).gate_refusals).toBe(3)
  })

  it('searches that were delivered with nothing, apart from those that could not be made', () => {
    const run = SimulatedRun.red({ recall: 'prefetch' })
    addEntry(run.journal, `job/${PREFETCH}`, job)
    run.respond({ calls: [search('s1')] })
    run.journal.inbox.set('call:s1', { ok: false, error: 'away' })
    run.respond({ calls: [tests('t1')] })
    const { recall } = viewOf(run.journal, noPatch)
    expect(recall).toMatchObject({ searches: 2, answered_none: 1, unavailable: 1, matched: 0 })
  })

  it('and views that were written before these were counted are still read', () => {
    const view = viewOf(SimulatedRun.red().journal, noPatch)
    const { tests: _, gate_refusals: __, budget_usd, recall, ...rest } = view
    expect(budget_usd).toBe(1)
    const { answered_none: ___, unavailable: ____, matched: _____, ...old } = recall
    const read = runViewSchema.parse({ ...rest, recall: old })
    expect(read).toMatchObject({
      tests: 0,
      gate_refusals: 0,
      budget_usd: null,
      recall: { answered_none: 0, matched: 0 },
    })
  })
})
