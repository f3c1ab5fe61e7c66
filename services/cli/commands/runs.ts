import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { listRuns } from '../find-run.ts'
import { createTerminal, table } from '../format/terminal.ts'
import { wholeNumber } from '../run-options.ts'
import { withServices } from '../with-services.ts'

type Options = { limit: number; json?: boolean }

export function addRunsCommand(program: Command, context: CliContext): void {
  program
    .command('runs')
    .description('list the newest runs')
    .option('--limit <n>', 'how many', wholeNumber(1, 1000), 20)
    .option('--json', 'print them as JSON')
    .action((options: Options) => runs(context, options))
}

async function runs(context: CliContext, options: Options): Promise<void> {
  const terminal = createTerminal(options)
  const views = await withServices(context.config(), context, terminal.note, (services) =>
    listRuns(services, options.limit),
  )
  terminal.printJson({ runs: views })
  if (views.length === 0) {
    terminal.print('there are no runs yet')
    return
  }
  const rows = views.map((view) => [
    view.run_id,
    view.reason === null ? view.status : `${view.status} (${view.reason})`,
    String(view.requests),
    `$${view.cost_usd.toFixed(4)}${view.cost_is_notional ? ' notional' : ''}`,
    view.workspace,
  ])
  terminal.print(table(['Run', 'Status', 'Requests', 'Cost', 'Workspace'], rows))
}
