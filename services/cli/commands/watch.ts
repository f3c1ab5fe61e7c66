import type { Command } from 'commander'
import { exitCodes, runStatusSchema } from '../../../shared/contracts/run.ts'
import type { CliContext } from '../context.ts'
import { findRun } from '../find-run.ts'
import { followRun } from '../follow-run.ts'
import { eventLine, printRun } from '../format/format-run.ts'
import { createTerminal } from '../format/terminal.ts'
import { cutOff, wasApplied } from '../patch/apply-run.ts'
import { runId } from '../run-options.ts'
import { withServices } from '../with-services.ts'

type Options = { json?: boolean }

export function addWatchCommand(program: Command, context: CliContext): void {
  program
    .command('watch')
    .description('follow a run to its end')
    .argument('<run>', 'the run id', runId)
    .option('--json', 'print the run as JSON when it has ended')
    .action(async (run: string, options: Options) => {
      process.exitCode = await watch(context, run, options)
    })
}

async function watch(context: CliContext, run: string, options: Options): Promise<number> {
  const terminal = createTerminal(options)
  const config = context.config()
  const view = await withServices(config, context, terminal.note, async (services) => {
    await findRun(services, run)
    return followRun(services, run, (event) => terminal.note(eventLine(event)))
  })
  const applied = wasApplied(config.home, run)
  const shown = { ...view, applied, not_applied_because: cutOff(config.home, run) }
  terminal.printJson(shown)
  printRun(terminal, shown)
  return exitCodes[runStatusSchema.parse(view.status)]
}
