import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import { AstraError, UsageError } from '../../../shared/errors.ts'
import type { CliContext } from '../context.ts'
import { findRun } from '../find-run.ts'
import { createTerminal } from '../format/terminal.ts'
import { applyRun } from '../patch/apply-run.ts'
import { changedText, nameSome } from '../patch/changed-text.ts'
import { runId } from '../run-options.ts'
import { withServices } from '../with-services.ts'

type Options = { json?: boolean }

export function addApplyCommand(program: Command, context: CliContext): void {
  program
    .command('apply')
    .description('apply the verified patch of a run, as a whole or not at all')
    .argument('<run>', 'the run id', runId)
    .argument('[workspace]', 'another copy of the project than the one of the run')
    .option('--json', 'print what was done as JSON')
    .action((run: string, workspace: string | undefined, options: Options) =>
      apply(context, run, workspace === undefined ? null : context.path(workspace), options),
    )
}

/** The run may have been asked for on another machine. */
async function requireFolder(workspace: string, run: string): Promise<void> {
  const stats = await stat(workspace).catch(() => null)
  if (stats?.isDirectory()) return
  throw new UsageError(`there is no folder ${workspace} on this machine`, {
    hint: `name your copy of the project: \`astra apply ${run} FOLDER\``,
  })
}

async function apply(
  context: CliContext,
  run: string,
  elsewhere: string | null,
  options: Options,
): Promise<void> {
  const terminal = createTerminal(options)
  const config = context.config()
  const { workspace, result } = await withServices(
    config,
    context,
    terminal.note,
    async (services) => {
      const view = await findRun(services, run)
      const workspace = elsewhere ?? view.workspace
      await requireFolder(workspace, run)
      const result = await applyRun(config.home, view, workspace, 'report', services.blobs)
      return { workspace, result }
    },
  )
  if (!result.applied) {
    throw new AstraError('workspace_changed', `nothing was applied: ${changedText(result)}`, {
      hint: `put them back as they were, or use the diff that \`astra status ${run}\` prints`,
    })
  }
  const { besides } = result
  terminal.printJson({ run_id: run, workspace, applied: true, changed_besides: besides })
  terminal.print(`the patch of ${run} is in ${workspace}`)
  if (besides.length === 0) return
  terminal.print(`run the tests again: it was proved before these changed: ${nameSome(besides)}`)
}
