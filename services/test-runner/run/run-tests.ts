import { homedir } from 'node:os'
import type { Patch } from '../../../shared/contracts/patch.ts'
import type { Runner } from '../../../shared/contracts/receipt.ts'
import type { UnusableTests } from '../../../shared/contracts/tests.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import { count } from '../../../shared/metrics.ts'
import type { RunFiles } from '../../../shared/run-files.ts'
import { span } from '../../../shared/tracing.ts'
import type { PlacedManifest } from '../../../shared/workspace.ts'
import { makeTestFolder, type TestFolder } from '../copy/test-folder.ts'
import { writeExtraFiles } from '../copy/write-extra-files.ts'
import { chooseCommand } from '../discovery/choose-command.ts'
import type { TestCommand } from '../discovery/command-line.ts'
import { nodeRangeOf } from '../discovery/discover.ts'
import { expandGlobs } from '../discovery/expand-globs.ts'
import { workspaceFiles } from '../discovery/workspace-files.ts'
import { runners } from '../runners/all.ts'
import type { ToolchainRequest } from '../toolchains/toolchain.ts'
import type { CompletedTests, TestRunConfig } from './completed-tests.ts'
import { shownOutput } from './output.ts'
import { prepareCommand } from './prepare-command.ts'
import { readReport } from './read-report.ts'
import type { CommandResult } from './run-command.ts'
import { timeLimit } from './time-limit.ts'
import { unusable } from './unusable.ts'
import { judge, type Verdict } from './verdict.ts'

export type TestRunRequest = {
  files: RunFiles
  manifest: PlacedManifest
  /** A display string of `discoverCommands`; null: the first. */
  command: string | null
  patch: Patch | null
  /** Null: the whole command. */
  selection: TestSelection | null
  /** How long the same command took on the base; null before that is known. */
  baselineMs: number | null
  pathEnv: string
  signal: AbortSignal
}

/** A part of a command's tests. */
export type TestSelection = {
  /** The files that hold them; of Go, the packages. */
  files: readonly string[]
  /** Texts by path, written into the copy before the tests run. */
  extraFiles: Readonly<Record<string, string>>
}

/** A runner's own report may come on stdout and is longer than what people read. */
const REPORT_ON_STDOUT = 16

/** Runs a test command on a fresh copy of a run's base, with a patch on it, and removes the copy. */
export async function runTests(
  request: TestRunRequest,
  config: TestRunConfig,
): Promise<CompletedTests | UnusableTests> {
  const { files, manifest, patch } = request
  const { sandbox, home, ASTRA_SHARED_DIR: shared } = config
  const problem = await sandbox.problem()
  if (problem) return unusable('no_sandbox', problem)
  const folder = await makeTestFolder({ home, files, manifest, patch, sandbox })
  crashPoint('tests.copied')
  try {
    await writeExtraFiles(folder.copy, request.selection?.extraFiles ?? {})
    // The base says which commands there are: a patch may not bring one of its own.
    const base = workspaceFiles(
      files.base,
      manifest.files.map((file) => file.path),
    )
    const toolchainRequest = {
      base: files.base,
      manifest,
      pathEnv: request.pathEnv,
      nodeRange: await nodeRangeOf(base),
      guarded: [homedir(), home, manifest.workspace, ...(shared ? [shared] : [])],
      goCache: folder.layout.goCache,
    }
    const chosen = await chooseCommand(request.command, base, toolchainRequest)
    if (chosen.kind === 'unusable') return chosen
    const result = await runIn(folder, chosen.command, toolchainRequest, request, config)
    if (result.kind === 'unusable') return result
    return { ...result, commands: chosen.commands, sandboxed: sandbox.isSandbox }
  } finally {
    await folder.remove()
  }
}

async function runIn(
  folder: TestFolder,
  command: TestCommand,
  toolchainRequest: ToolchainRequest,
  { manifest, patch, selection, baselineMs, signal }: TestRunRequest,
  config: TestRunConfig,
): Promise<Verdict> {
  const { layout } = folder
  const { reportFile, reporters } = layout
  const args = expandGlobs(command, manifest)
  const files = selection?.files ?? null
  const argv = runners[command.runner].argv({ args, reportFile, reporters, files })
  const limit = timeLimit(config, baselineMs)
  const limits = {
    timeoutMs: limit.ms,
    maxOutputBytes:
      config.ASTRA_TEST_OUTPUT_BYTES * (command.runner === 'go' ? REPORT_ON_STDOUT : 1),
    signal,
  }
  const isOfBase = patch === null && selection === null
  const prepared = await prepareCommand(
    { folder, manifest, command, argv, fillCaches: isOfBase, limits },
    toolchainRequest,
    config,
  )
  if (prepared.kind === 'unusable') return prepared
  const started = performance.now()
  const result = await span('test command', { 'astra.runner': command.runner }, () =>
    config.sandbox.run({ ...prepared, ...limits }),
  )
  const ms = Math.round(performance.now() - started)
  if (result.end !== 'exited') count('astra_sandbox_kills_total', { limit: limitNames[result.end] })
  const report = { ...result, file: await readReport(folder.reportFile), root: layout.workspace }
  const output = shownOutput(readable(command.runner, result), layout.workspace, reportFile)
  crashPoint('tests.finished')
  const verdict = judge({ command, report, end: result.end, ms, output, limit, config })
  return withTypeScriptHint(verdict, command, manifest)
}

const limitNames = { timed_out: 'time', output_limit: 'output', memory_limit: 'memory' } as const

function readable(runner: Runner, result: CommandResult): string {
  const adapter = runners[runner]
  if (!adapter.readableOutput) return result.output
  return [adapter.readableOutput(result.stdout), result.stderr].join('\n')
}

function withTypeScriptHint(
  verdict: Verdict,
  command: TestCommand,
  manifest: PlacedManifest,
): Verdict {
  const hasTypeScript = manifest.files.some((file) => /[._-]test\.[mc]?ts$/.test(file.path))
  if (verdict.kind === 'completed' || verdict.reason !== 'no_tests_found') return verdict
  if (command.runner !== 'node' || !hasTypeScript) return verdict
  const hint = 'Node before 22.18 runs no tests in TypeScript: say "engines": {"node": ">=22.18"}'
  return { ...verdict, message: `${verdict.message}; ${hint} in package.json` }
}
