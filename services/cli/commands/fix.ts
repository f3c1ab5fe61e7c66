import type { Command } from 'commander'
import { exitCodes, type RunRequest, runStatusSchema } from '../../../shared/contracts/run.ts'
import type { CliContext } from '../context.ts'
import { type FinishedRun, prepareRun, publishRun, runToEnd } from '../fix-workspace.ts'
import { eventLine, printRun, refusalHelp } from '../format/format-run.ts'
import { createTerminal, type Terminal } from '../format/terminal.ts'
import { InterruptError } from '../interrupt.ts'
import { addRunOptions, orderOf, type RunOptions } from '../run-options.ts'
import { leftOutText } from '../snapshot/left-out.ts'
import { dropSnapshot } from '../snapshot/snapshot.ts'
import { withServices } from '../with-services.ts'

type Options = RunOptions & { apply: boolean; json?: boolean }

export function addFixCommand(program: Command, context: CliContext): void {
  addRunOptions(program.command('fix <workspace>'))
    .description('repair the failing tests of a project and apply the verified patch')
    .option('--no-apply', 'leave the workspace as it is; `astra apply RUN` applies the patch later')
    .option('--json', 'print the run as JSON')
    .action(async (workspace: string, options: Options) => {
      process.exitCode = await fix(context, context.path(workspace), options)
    })
}

async function fix(context: CliContext, workspace: string, options: Options): Promise<number> {
  const terminal = createTerminal(options)
  const config = context.config()
  const order = orderOf(workspace, options, config)
  const { request, snapshot } = await prepareRun(config, context.env, order)
  terminal.note(`run ${request.run_id}: ${snapshot.files} files of ${request.workspace}`)
  const leftOut = leftOutText(snapshot.leftOut)
  if (leftOut) terminal.note(leftOut)
  const run = await runFixed(context, terminal, request, options.apply)
  terminal.printJson(run)
  printRun(terminal, run)
  const help = refusalHelp(run)
  if (help) process.stderr.write(`\n${help}\n`)
  return exitCodes[runStatusSchema.parse(run.status)]
}

async function runFixed(
  context: CliContext,
  terminal: Terminal,
  request: RunRequest,
  apply: boolean,
): Promise<FinishedRun> {
  let asked = false
  try {
    return await withServices(context.config(), context, terminal.note, async (services) => {
      const staying = await publishRun(services, request.run_id)
      if (staying) terminal.note(staying)
      asked = true
      return runToEnd(services, request, {
        apply,
        onEvent: (event) => terminal.note(eventLine(event)),
      })
    })
  } catch (error) {
    if (!asked) await dropSnapshot(context.config().home, request.run_id)
    throw error instanceof InterruptError ? interrupted(request.run_id, asked) : error
  }
}

function interrupted(runId: string, asked: boolean): InterruptError {
  return new InterruptError(
    asked
      ? `run ${runId} has not ended; \`astra watch ${runId}\` goes on with it, ` +
          `\`astra cancel ${runId}\` ends it`
      : 'the run was not begun',
  )
}
