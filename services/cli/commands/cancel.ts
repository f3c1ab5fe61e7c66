import type { Command } from 'commander'
import { jobIdOf } from '../../../shared/contracts/ids.ts'
import type { CliContext } from '../context.ts'
import { findRun } from '../find-run.ts'
import { followRun, hasEnded } from '../follow-run.ts'
import { runId } from '../run-options.ts'
import { createTerminal } from '../terminal.ts'
import { withServices } from '../with-services.ts'

type Options = { json?: boolean }

export function addCancelCommand(program: Command, context: CliContext): void {
  program
    .command('cancel')
    .description('end a run; what it changed stays in its own copy')
    .argument('<run>', 'the run id', runId)
    .option('--json', 'print how it ended as JSON')
    .action((run: string, options: Options) => cancel(context, run, options))
}

async function cancel(context: CliContext, run: string, options: Options): Promise<void> {
  const terminal = createTerminal(options)
  const view = await withServices(context.config(), context, terminal.note, async (services) => {
    const now = await findRun(services, run)
    if (hasEnded(now)) return now
    const jobId = jobIdOf('cancel', run)
    await services.producer.add('runs', 'cancel', { run_id: run }, { jobId })
    return followRun(services, run, () => {})
  })
  terminal.printJson({ run_id: run, status: view.status, reason: view.reason })
  const already = view.status === 'cancelled' ? '' : ' (it had ended before)'
  terminal.print(`${run} is ${view.status}${already}`)
}
