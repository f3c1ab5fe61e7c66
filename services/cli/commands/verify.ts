import type { Command } from 'commander'
import { runIdSchema } from '../../../shared/contracts/ids.ts'
import { UNSAFE_FLAG } from '../../../shared/contracts/supervisor.ts'
import type { Verification } from '../../../shared/contracts/tests.ts'
import { UsageError } from '../../../shared/errors.ts'
import { userPath } from '../../../shared/user-path.ts'
import { verifyInServices } from '../ask-verification.ts'
import type { CliContext } from '../context.ts'
import { repeatRun } from '../copy-run.ts'
import { findRun } from '../find-run.ts'
import { publishRun } from '../fix-workspace.ts'
import { printVerification } from '../format/format-verification.ts'
import { createTerminal, type Terminal } from '../format/terminal.ts'
import { checkJsonFile, writeJsonFile } from '../json-file.ts'
import { keepPatch, readPatchFile } from '../patch/read-patch.ts'
import { withScratchRun } from '../scratch-run.ts'
import { leftOutText } from '../snapshot/left-out.ts'
import { takeSnapshot } from '../snapshot/snapshot.ts'

type Options = {
  patch?: string
  command?: string
  receipt?: string
  unsafeNoSandbox?: boolean
  json?: boolean
}

const NOT_PROVED = 3

export function addVerifyCommand(program: Command, context: CliContext): void {
  program
    .command('verify')
    .description('prove the patch of an earlier run again, or any patch on any workspace')
    .argument('<run-or-workspace>', 'the run id; with --patch the workspace')
    .option('--patch <file>', 'a unified diff, such as `git diff` writes; - is stdin')
    .option('--command <cmd>', 'test command, one of those found in the workspace')
    .option('--receipt <file>', 'write the receipt of a proof to this file')
    .option(
      UNSAFE_FLAG,
      'run tests with your rights, where there is no sandbox; the receipt says so',
    )
    .option('--json', 'print the verification as JSON')
    .action(async (target: string, options: Options) => {
      process.exitCode = await verify(context, target, options)
    })
}

async function verify(context: CliContext, target: string, options: Options): Promise<number> {
  const terminal = createTerminal(options)
  const receiptFile = options.receipt === undefined ? null : context.path(options.receipt)
  if (receiptFile) await checkJsonFile(receiptFile)
  const { patch } = options
  const verification =
    patch === undefined
      ? await verifyRun(context, terminal, target, options)
      : await verifyPatch(context, terminal, { workspace: target, patch }, options)
  terminal.printJson(verification)
  printVerification(terminal, verification)
  if (!verification.confirmed) return NOT_PROVED
  if (receiptFile) await writeJsonFile(receiptFile, verification.receipt)
  return 0
}

const hostOf = ({ env, interrupted }: CliContext, { unsafeNoSandbox = false }: Options) => ({
  env,
  interrupted,
  unsafeNoSandbox,
})

async function verifyRun(
  context: CliContext,
  { note }: Terminal,
  target: string,
  options: Options,
): Promise<Verification> {
  const run = runIdSchema.safeParse(target)
  if (!run.success) {
    throw new UsageError(`${target} is no run id`, {
      hint: '`astra runs` lists the runs; a patch on a workspace is verified with --patch FILE',
    })
  }
  const config = context.config()
  return withScratchRun(config.home, (runId) =>
    verifyInServices(hostOf(context, options), config, note, async (services) => {
      const view = await findRun(services, run.data)
      const { manifest, patch } = await repeatRun(services, view, runId)
      note(`the patch of ${run.data} on the snapshot of ${view.workspace}`)
      return {
        runId,
        repositoryId: manifest.repository_id ?? manifest.workspace,
        command: options.command ?? view.verification?.command ?? null,
        patch,
        pathEnv: userPath(context.env),
      }
    }),
  )
}

async function verifyPatch(
  context: CliContext,
  { note }: Terminal,
  asked: { workspace: string; patch: string },
  options: Options,
): Promise<Verification> {
  const config = context.config()
  const file = asked.patch === '-' ? '-' : context.path(asked.patch)
  const diffs = await readPatchFile(file, context.interrupted)
  return withScratchRun(config.home, async (runId) => {
    const workspace = context.path(asked.workspace)
    const snapshot = await takeSnapshot({ home: config.home, runId, workspace })
    note(`${snapshot.files} files of ${snapshot.workspace}`)
    const leftOut = leftOutText(snapshot.leftOut)
    if (leftOut) note(leftOut)
    const { patch, modes } = await keepPatch(config.home, runId, diffs)
    if (modes.length > 0) note(`modes are no part of a proof: ${modes.join(', ')}`)
    const { repositoryId } = snapshot
    const command = options.command ?? null
    const question = { runId, repositoryId, command, patch, pathEnv: userPath(context.env) }
    context.interrupted.throwIfAborted()
    return verifyInServices(hostOf(context, options), config, note, async (services) => {
      const staying = await publishRun(services, runId, patch)
      if (staying) note(staying)
      return question
    })
  })
}
