import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { findRun } from '../find-run.ts'
import { printRun } from '../format/format-run.ts'
import { createTerminal } from '../format/terminal.ts'
import { cutOff, wasApplied } from '../patch/apply-run.ts'
import { runId } from '../run-options.ts'
import { withServices } from '../with-services.ts'

type Options = { json?: boolean }

export function addStatusCommand(program: Command, context: CliContext): void {
  program
    .command('status')
    .description('show a run as it is now')
    .argument('<run>', 'the run id', runId)
    .option('--json', 'print the run as JSON')
    .action((run: string, options: Options) => status(context, run, options))
}

async function status(context: CliContext, run: string, options: Options): Promise<void> {
  const terminal = createTerminal(options)
  const config = context.config()
  const view = await withServices(config, context, terminal.note, (services) =>
    findRun(services, run),
  )
  const applied = wasApplied(config.home, run)
  const shown = { ...view, applied, not_applied_because: cutOff(config.home, run) }
  terminal.printJson(shown)
  printRun(terminal, shown)
}
