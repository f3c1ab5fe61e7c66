import type { Command } from 'commander'
import { markCancelled } from '../../../shared/contracts/cancellation.ts'
import type { CliContext } from '../context.ts'
import { findRun } from '../find-run.ts'
import { followRun, hasEnded } from '../follow-run.ts'
import { createTerminal } from '../format/terminal.ts'
import { runId } from '../run-options.ts'
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
  const { view, before } = await withServices(
    context.config(),
    context,
    terminal.note,
    async (services) => {
      const now = await findRun(services, run)
      if (hasEnded(now)) return { view: now, before: true }
      // The mark stops tests at once, also while no agent-runner has a moment for the job.
      await markCancelled(services.redis, run)
      await services.producer.add('runs', 'cancel', { run_id: run })
      return { view: await followRun(services, run, () => {}), before: false }
    },
  )
  const { status, reason } = view
  terminal.printJson({ run_id: run, status, reason, ended_before: before })
  if (before) terminal.print(`${run} had ended before: ${status}`)
  else if (status === 'cancelled') terminal.print(`${run} is cancelled`)
  else terminal.print(`${run} ended as ${status} before it could be cancelled`)
}
