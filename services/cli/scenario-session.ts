import type { RecallMode } from '../../shared/contracts/run.ts'
import type { RunEvent } from '../../shared/contracts/run-view.ts'
import type { CliContext } from './context.ts'
import { type FinishedRun, prepareRun, runToEnd } from './fix-workspace.ts'
import { DEFAULT_PROMPT, limitsOf } from './run-options.ts'
import type { DemoLanguage, Scratch } from './scratch-home.ts'
import type { Services } from './with-services.ts'

export type ScenarioSession = {
  runId: string
  scenario: string
  language: DemoLanguage
  recall: RecallMode
  /** Asks Astra herself; otherwise the stand-in. */
  live: boolean
}

/** One session on a fresh copy of a demo project: the same way as `astra fix` goes. */
export async function runScenario(
  context: CliContext,
  scratch: Scratch,
  services: Services,
  session: ScenarioSession,
  onEvent: (event: RunEvent) => void,
): Promise<FinishedRun> {
  const { runId, scenario, language, recall, live } = session
  const { request } = await prepareRun(scratch.config, context.env, {
    run_id: runId,
    workspace: await scratch.workspace(scenario, language, runId),
    prompt: DEFAULT_PROMPT,
    mode: live ? 'live' : 'offline',
    recall,
    priority: 'normal',
    approve_live_cost: live,
    command: null,
    limits: limitsOf({}, scratch.config),
  })
  return runToEnd(services, request, { apply: true, onEvent })
}
