import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { pidOf, startAgent } from '../chaos/faults.ts'
import { signalOwn, variableOf } from '../chaos/processes.ts'
import { lostAttempts } from '../chaos/requests.ts'
import { startFaultedRun } from './faulted-run.ts'

/** Time to stop the model before it is asked. */
const SLOW_MS = 2_000
const LIMIT_MS = 320_000

it(
  'an agent-runner that stands still for longer than its lock loses the run to another, and what it ' +
    'still does when it goes on changes nothing',
  async () => {
    const run = await startFaultedRun(SLOW_MS)
    onTestFinished(() => run.remove())
    const { session } = run
    const frozen = await pidOf(session, 'agent-runner')
    const model = await pidOf(session, 'offline-model')
    const from = Date.now()
    // The answer is not there before its receiver stands still, so the request is under way then.
    signalOwn(session.astra, model, 'SIGSTOP')
    await run.event(/^request 1$/)
    signalOwn(session.astra, frozen, 'SIGSTOP')
    signalOwn(session.astra, model, 'SIGCONT')
    const other = await startAgent(session, variableOf(frozen, 'OFFLINE_MODEL_URL') ?? '')
    const ended = once(other, 'exit')
    await run.event(/^request 1, attempt 2$/)
    signalOwn(session.astra, frozen, 'SIGCONT')
    run.injected('agent-runner', from)
    await run.event(/^fixed /)
    other.kill('SIGTERM')
    await ended
    const { run: seen, problems } = await run.end()
    expect(problems).toEqual([])
    expect(lostAttempts(seen.journal)).toHaveLength(1)
  },
  LIMIT_MS,
)
