import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { prepareRun, publishRun } from '../fix-workspace.ts'
import { startRun } from '../follow-run.ts'
import { createTerminal } from '../format/terminal.ts'
import { addRunOptions, orderOf, type RunOptions } from '../run-options.ts'
import { leftOutText } from '../snapshot/left-out.ts'
import { dropSnapshot } from '../snapshot/snapshot.ts'
import { withServices } from '../with-services.ts'

type Options = RunOptions & { json?: boolean }

export function addEnqueueCommand(program: Command, context: CliContext): void {
  addRunOptions(program.command('enqueue <workspace>'))
    .description('ask for a repair and return at once; it runs while services are up')
    .option('--json', 'print the run id as JSON')
    .action((workspace: string, options: Options) =>
      enqueue(context, context.path(workspace), options),
    )
}

async function enqueue(context: CliContext, workspace: string, options: Options): Promise<void> {
  const terminal = createTerminal(options)
  const config = context.config()
  const order = orderOf(workspace, options, config)
  const { request, snapshot } = await prepareRun(config, context.env, order)
  let asked = false
  try {
    await withServices(config, context, terminal.note, async (services) => {
      const staying = await publishRun(services, request.run_id)
      if (staying) terminal.note(staying)
      asked = true
      await startRun(services.producer, request)
    })
  } catch (error) {
    if (!asked) await dropSnapshot(config.home, request.run_id)
    throw error
  }
  const leftOut = leftOutText(snapshot.leftOut)
  if (leftOut) terminal.note(leftOut)
  const { run_id } = request
  terminal.printJson({ run_id, status: 'queued' })
  terminal.print(run_id)
  terminal.note(
    `it runs while services are up (\`astra up\`); \`astra watch ${run_id}\` follows it, ` +
      `\`astra apply ${run_id}\` applies what it verified`,
  )
}
