import type { Command } from 'commander'
import { readCosts } from '../../../shared/read-costs.ts'
import type { CliContext } from '../context.ts'
import { printCosts } from '../format/format-costs.ts'
import { createTerminal } from '../format/terminal.ts'
import { runId, wholeNumber } from '../run-options.ts'
import { withServices } from '../with-services.ts'

type Options = { days: number; run?: string; json?: boolean }

export function addCostCommand(program: Command, context: CliContext): void {
  program
    .command('cost')
    .description('show what was spent, by day, model and run, and what is left of each budget')
    .option('--days <n>', 'how many UTC days, today included', wholeNumber(1, 400), 7)
    .option('--run <id>', 'only this run, attempt by attempt', runId)
    .option('--json', 'print it as JSON, in integer micro-dollars')
    .action((options: Options) => cost(context, options))
}

async function cost(context: CliContext, options: Options): Promise<void> {
  const terminal = createTerminal(options)
  const config = context.config()
  const now = new Date()
  const run = options.run ?? null
  const costs = await withServices(config, context, terminal.note, ({ redis }) =>
    readCosts(redis, config, { days: options.days, run, now }),
  )
  terminal.printJson({ at: now.toISOString(), days: options.days, run, ...costs })
  printCosts(terminal, costs, run)
}
