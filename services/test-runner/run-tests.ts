import type { Manifest } from '../../shared/contracts/manifest.ts'
import type { Patch } from '../../shared/contracts/patch.ts'
import type { Runner } from '../../shared/contracts/receipt.ts'
import type { UnusableTests } from '../../shared/contracts/tests.ts'
import { crashPoint } from '../../shared/crash-point.ts'
import type { RunFiles } from '../../shared/run-files.ts'
import type { TestCommand } from './command-line.ts'
import type { CompletedTests, TestRunConfig } from './completed-tests.ts'
import { discoverCommands, nodeRangeOf } from './discover.ts'
import { testEnvironment } from './environment.ts'
import { expandGlobs } from './expand-globs.ts'
import { shownOutput } from './output.ts'
import { newMark } from './process-tree.ts'
import { findProgram } from './programs.ts'
import { readReport } from './read-report.ts'
import { type CommandResult, runCommand } from './run-command.ts'
import { runners } from './runners/all.ts'
import { makeTestFolder, type TestFolder } from './test-folder.ts'
import { timeLimit } from './time-limit.ts'
import { judge, type Verdict } from './verdict.ts'
import { workspaceFiles } from './workspace-files.ts'
import { writeExtraFiles } from './write-extra-files.ts'

export type TestRunRequest = {
  files: RunFiles
  manifest: Manifest
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
  const folder = await makeTestFolder(config.home, files, manifest, patch)
  crashPoint('tests.copied')
  try {
    await writeExtraFiles(folder.workspace, request.selection?.extraFiles ?? {})
    // The base says which commands there are: a patch may not bring one of its own.
    const base = workspaceFiles(
      files.base,
      manifest.files.map((file) => file.path),
    )
    const nodeRange = await nodeRangeOf(base)
    const { pathEnv } = request
    const env = await testEnvironment({ home: config.home, manifest, folder, pathEnv, nodeRange })
    const found = await discoverCommands(base, env)
    if (!found.found) return unusable('no_tests_found', found.problem)
    const [first] = found.commands
    const command = found.commands.find(
      (each) => each.display === (request.command ?? first.display),
    )
    const commands = found.commands.map((each) => each.display)
    if (!command) {
      const offered = commands.join(', ')
      return unusable('no_tests_found', `no test command ${request.command}; there is: ${offered}`)
    }
    const result = await runIn(folder, command, env, request, config)
    return result.kind === 'completed' ? { ...result, commands } : result
  } finally {
    await folder.remove()
  }
}

async function runIn(
  folder: TestFolder,
  command: TestCommand,
  env: Record<string, string>,
  { manifest, selection, baselineMs, signal }: TestRunRequest,
  config: TestRunConfig,
): Promise<Verdict> {
  const adapter = runners[command.runner]
  const { reportFile } = folder
  const args = expandGlobs(command, manifest)
  const [name, ...rest] = adapter.argv({ args, reportFile, files: selection?.files ?? null })
  const program = await findProgram(name, env.PATH ?? '')
  if (!program) {
    return unusable('runner_missing', `${name} was not found: ${adapter.installHint}`)
  }
  const reportsOnStdout = command.runner === 'go'
  const limit = timeLimit(config, baselineMs)
  const started = performance.now()
  const result = await runCommand({
    argv: [program, ...rest],
    cwd: folder.workspace,
    env: { ...env, ...command.env },
    mark: newMark(config.home),
    timeoutMs: limit.ms,
    maxOutputBytes: config.ASTRA_TEST_OUTPUT_BYTES * (reportsOnStdout ? REPORT_ON_STDOUT : 1),
    signal,
  })
  const report = { ...result, file: await readReport(reportFile), root: folder.workspace }
  const output = shownOutput(readable(command.runner, result), folder.workspace, reportFile)
  const ms = Math.round(performance.now() - started)
  crashPoint('tests.finished')
  const verdict = judge({ command, report, end: result.end, ms, output, limit, config })
  return withTypeScriptHint(verdict, command, manifest)
}

function readable(runner: Runner, result: CommandResult): string {
  const adapter = runners[runner]
  if (!adapter.readableOutput) return result.output
  return [adapter.readableOutput(result.stdout), result.stderr].join('\n')
}

function withTypeScriptHint(verdict: Verdict, command: TestCommand, manifest: Manifest): Verdict {
  const hasTypeScript = manifest.files.some((file) => /[._-]test\.[mc]?ts$/.test(file.path))
  if (verdict.kind === 'completed' || verdict.reason !== 'no_tests_found') return verdict
  if (command.runner !== 'node' || !hasTypeScript) return verdict
  const hint = 'Node before 22.18 runs no tests in TypeScript: say "engines": {"node": ">=22.18"}'
  return { ...verdict, message: `${verdict.message}; ${hint} in package.json` }
}

function unusable(reason: UnusableTests['reason'], message: string): UnusableTests {
  return { kind: 'unusable', reason, message, output: '' }
}
