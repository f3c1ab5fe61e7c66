import { describe, expect, it } from 'vitest'
import { addEntry } from '../../services/agent-runner/journal/journal.ts'
import { read } from '../support/simulated-run.ts'
import type { Victim } from './faults.ts'
import {
  addResponse,
  addSent,
  at,
  evidenceLine,
  healthyInstallation,
  references,
} from './healthy-run.ts'
import { checkInstallation, type FindingKind } from './invariants.ts'
import type { Observed, ObservedRun } from './observed.ts'

/** What is found wrong after `plant` has changed a healthy installation and its run. */
function found(plant: (run: ObservedRun, installation: Observed) => void): FindingKind[] {
  const installation = healthyInstallation()
  for (const run of installation.runs) plant(run, installation)
  const findings = checkInstallation(installation, references)
  return [...new Set(findings.map((finding) => finding.kind))]
}

const fault = (victim: Victim, from: number, to: number) => ({
  name: `kill ${victim}`,
  victim,
  at: Date.parse(at(from)),
  until: Date.parse(at(to)),
  runs: [],
})

/** Attempt 3.1 was lost; 3.2 was answered 5 s later, and 3.1 is charged in full. */
function loseAnAttempt(run: ObservedRun, installation: Observed): void {
  const { calls } = run.journal.responses.get('3') ?? { calls: [] }
  addSent(run.journal, '3.2', 35, ['call:c-search', 'call:c-wait'])
  addResponse(run.journal, 3, 2, calls)
  if (run.costs) run.costs.settled += 100
  installation.totals.settled += 100
}

describe('an installation after a run', () => {
  it('has nothing wrong with it when nothing went wrong', () => {
    expect(found(() => {})).toEqual([])
  })

  it('is told of runs that are not done, processes and files that stay, and points not reached', () => {
    const planted = found((_, installation) => {
      installation.unfinished.push('run run-test')
      installation.orphans.push('17 node')
      installation.leftovers.push('tmp/astra-test-1')
      installation.notReached.push('agent.settled')
    })
    expect(planted).toEqual([
      'result lost',
      'crash point not reached',
      'orphan process',
      'leftover',
    ])
  })
})

describe('the end of a run', () => {
  it('has to be there, and to be a repair', () => {
    expect(found((run) => (run.view = null))).toContain('wrong end')
    expect(found((run) => Object.assign(run.view ?? {}, { status: 'failed' }))).toEqual([
      'wrong end',
    ])
  })

  it('has to have the patch of the reference, and to have it on disk', () => {
    expect(found((run) => Object.assign(run.view ?? {}, { patch_hash: '0'.repeat(64) }))).toEqual([
      'wrong end',
    ])
    expect(found((run) => (run.patch = null))).toEqual(['wrong end'])
  })

  it('leaves the workspace alone', () => {
    expect(found((run) => run.changed.push('a.ts'))).toEqual(['workspace changed'])
  })
})

describe('a result is lost', () => {
  it('when a job left none', () => {
    expect(found((run) => run.journal.inbox.delete('call:c-tests'))).toEqual(['result lost'])
  })

  it('when a job left an error', () => {
    const error = { ok: false, error: 'job stalled' } as const
    expect(found((run) => run.journal.inbox.set('call:c-tests', error))).toEqual(['result lost'])
  })

  it('when the output of an async call never reached the model', () => {
    const planted = found((run) => addSent(run.journal, '3.1', 30, ['call:c-wait']))
    expect(planted).toEqual(['result lost'])
  })
})

describe('a store is wrong', () => {
  it('when the memory has two records of the run', () => {
    expect(found((run) => run.records.push('another'))).toEqual(['duplicate store'])
  })

  it('when the memory has another record than the run was told of, or none', () => {
    expect(found((run) => (run.records = ['another']))).toEqual(['duplicate store'])
    expect(found((run) => (run.records = []))).toEqual(['duplicate store'])
  })
})

describe('an edit is wrong', () => {
  it('when it begins from a text that the edits before it did not leave', () => {
    expect(found((run) => run.base.set('a.ts', 'f'.repeat(64)))).toEqual(['duplicate edit'])
  })

  it('when it was made and the model was told otherwise, or the other way round', () => {
    const refused = { at: at(31), output: '{"error":{"code":"edit_refused","message":""}}' }
    expect(found((run) => addEntry(run.journal, 'output/call:c-edit', refused))).toContain(
      'duplicate edit',
    )
    expect(found((run) => run.journal.edits.delete('call:c-edit'))).toContain('duplicate edit')
  })

  it('when the patch holds another text than the last edit made', () => {
    const planted = found((run) => {
      const edit = { path: 'a.ts', before: run.base.get('a.ts'), after: 'f'.repeat(64) }
      addEntry(run.journal, 'edit/call:c-edit', edit)
    })
    expect(planted).toEqual(['duplicate edit'])
  })
})

describe('an answer is wrong', () => {
  it('when two requests go on from one response', () => {
    expect(found((run) => run.chain.set('resp_4', 'resp_2'))).toEqual(['duplicate answer'])
  })

  it('when an ordinary call is answered twice, late or not at all', () => {
    const twice = ['call:c-search', 'call:c-wait', 'call:c-read']
    expect(found((run) => addSent(run.journal, '3.1', 30, twice))).toEqual(['duplicate answer'])
    const late = found((run) => {
      addSent(run.journal, '2.1', 20, [])
      addSent(run.journal, '3.1', 30, twice)
    })
    expect(late).toEqual(['duplicate answer'])
    expect(found((run) => addSent(run.journal, '2.1', 20, []))).toEqual(['duplicate answer'])
  })

  it('when an async result is delivered twice', () => {
    const again = ['call:c-edit', 'call:c-tests', 'call:c-search']
    expect(found((run) => addSent(run.journal, '4.1', 40, again))).toEqual(['duplicate answer'])
  })
})

describe('a request is beyond the needed', () => {
  it('when an attempt was lost and nothing was killed while it was under way', () => {
    expect(found(loseAnAttempt)).toEqual(['request beyond the needed'])
    const early = found((run, installation) => {
      loseAnAttempt(run, installation)
      installation.injected.push(fault('agent-runner', 20, 29), fault('embedder', 31, 32))
    })
    expect(early).toEqual(['request beyond the needed'])
  })

  it('but not when its sender, the model, Redis or the supervisor was killed meanwhile', () => {
    for (const victim of ['agent-runner', 'offline-model', 'redis', 'supervisor'] as const) {
      const explained = found((run, installation) => {
        loseAnAttempt(run, installation)
        installation.injected.push(fault(victim, 32, 33))
      })
      expect(explained).toEqual([])
    }
  })

  it('but not soon after Redis was away for so long that a lock may have expired', () => {
    const lostAfter = (from: number, to: number) =>
      found((run, installation) => {
        loseAnAttempt(run, installation)
        installation.injected.push(fault('redis', from, to))
      })
    expect(lostAfter(10, 25)).toEqual([])
    expect(lostAfter(22, 25)).toEqual(['request beyond the needed'])
    expect(lostAfter(5, 20)).toEqual(['request beyond the needed'])
  })

  it('when the model was told of an error, or had to be reminded', () => {
    const error = { at: at(11), output: '{"error":{"code":"internal","message":""}}' }
    expect(found((run) => addEntry(run.journal, 'output/call:c-read', error))).toEqual([
      'request beyond the needed',
    ])
    const reminder = { at: at(50), hold_microusd: 100, delivers: ['call:c-store'], reminder: true }
    expect(found((run) => addEntry(run.journal, 'sent/5.1', reminder))).toEqual([
      'request beyond the needed',
    ])
  })

  it('when a run that was alone needed more than the reference, waits apart', () => {
    const planted = found((run) => {
      addResponse(run.journal, 2, 1, [read('c-more'), ...callsOf(run, 2)])
      addEntry(run.journal, 'output/call:c-more', { at: at(21), output: '{}' })
      addSent(run.journal, '3.1', 30, ['call:c-search', 'call:c-wait', 'call:c-more'])
    })
    expect(planted).toEqual(['request beyond the needed'])
  })
})

const callsOf = (run: ObservedRun, request: number) =>
  run.journal.responses.get(String(request))?.calls ?? []

describe('the money is wrong', () => {
  it('when the ledger and the journal disagree', () => {
    const planted = found((run, installation) => {
      if (run.costs) run.costs.settled += 1
      installation.totals.settled += 1
    })
    expect(planted).toEqual(['dollars over the limit'])
  })

  it('when the total is not the sum of the runs', () => {
    expect(found((_, installation) => (installation.totals.settled += 1))).toEqual([
      'dollars over the limit',
    ])
  })

  it('when something is still held or sent', () => {
    expect(found((run) => Object.assign(run.costs ?? {}, { sent: 1 }))).toEqual([
      'dollars over the limit',
    ])
    expect(found((_, installation) => (installation.totals.held = 1))).toEqual([
      'dollars over the limit',
    ])
    expect(found((_, installation) => installation.openAttempts.push('run-test 1.1'))).toEqual([
      'dollars over the limit',
    ])
  })

  it('when more was spent than the run was allowed, at the end or for a moment', () => {
    const end = found((run) => {
      const { limits } = run.journal.start?.request ?? {}
      if (limits) limits.budget_microusd = 49
    })
    expect(end).toEqual(['dollars over the limit'])
    const moment = found((_, installation) => {
      installation.evidence.push(evidenceLine(3, 1_000_001))
    })
    expect(moment).toEqual(['dollars over the limit'])
  })

  it('when the evidence of a transition is missing', () => {
    expect(found((_, installation) => installation.evidence.push(evidenceLine(4, 1)))).toEqual([
      'dollars over the limit',
    ])
  })

  it('when the ledger does not know a run that asked the model', () => {
    const planted = found((run, installation) => {
      run.costs = null
      installation.totals.settled = 0
    })
    expect(planted).toEqual(['dollars over the limit'])
  })
})
