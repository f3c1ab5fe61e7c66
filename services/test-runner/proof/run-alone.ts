import type { Patch } from '../../../shared/contracts/patch.ts'
import type { UnusableTests } from '../../../shared/contracts/tests.ts'
import { makeCanary, sightCanaries } from '../canary/canary.ts'
import type { Canary } from '../canary/canary-site.ts'
import { canarySites } from '../canary/canary-sites.ts'
import { workspaceFiles } from '../discovery/workspace-files.ts'
import type { CompletedTests, TestRunConfig } from '../run/completed-tests.ts'
import type { TestEntry } from '../run/report.ts'
import { runTests, type TestRunRequest } from '../run/run-tests.ts'
import type { Problem } from './compare-runs.ts'

export type AloneRequest = Omit<TestRunRequest, 'selection'> & {
  /** The run of the whole command on the base. */
  before: CompletedTests
  /** The tests whose files run. */
  targets: readonly TestEntry[]
}

export type AloneRun =
  | { kind: 'completed'; run: CompletedTests; canary: string[] }
  | { kind: 'refused'; problem: Problem }

/**
 * Runs the targets' files alone, each folder of them with a canary: a test with a name of this run
 * alone that must fail. Where it is not seen to, no result of the run can be believed. What comes
 * back is without the canaries.
 */
export async function runAlone(request: AloneRequest, config: TestRunConfig): Promise<AloneRun> {
  const { files, manifest, patch, before, targets } = request
  const paths = manifest.files.map((file) => file.path)
  const placed = await canarySites(before.runner, targets, workspaceFiles(files.base, paths))
  if ('lost' in placed) return refused('canary', noPlace(placed.lost))
  const canaries = placed.sites.map((site) => makeCanary(before.runner, site))
  const targetFiles = new Set(targets.map((target) => target.file))
  const canaryFiles = canaries.map((canary) => canary.file)
  const selection = {
    files: [...new Set([...targetFiles, ...canaryFiles])],
    extraFiles: Object.fromEntries(canaries.map((canary) => [canary.path, canary.text])),
  }
  const run = await runTests({ ...request, selection }, config)
  if (run.kind === 'unusable') return refused('tests_unusable', unusableAlone(run, patch))
  const { failed, unseen, others } = sightCanaries(run.tests, canaries, patch ? 'patched' : 'base')
  if (unseen.length > 0) return refused('canary', notSeen(run, canaries, patch))
  // A configuration may add files to those that are asked for.
  const tests = others.filter((test) => targetFiles.has(test.file))
  return { kind: 'completed', run: { ...run, tests }, canary: failed }
}

function refused(reason: Problem['reason'], message: string): AloneRun {
  return { kind: 'refused', problem: { reason, message } }
}

const treeOf = (patch: Patch | null) => (patch ? 'the patched copy' : 'the base')

function unusableAlone({ message }: UnusableTests, patch: Patch | null): string {
  return `the files of the failing tests gave no verdict when they ran alone on ${treeOf(patch)}: ${message}`
}

function noPlace(file: string): string {
  return (
    `no test can be placed beside the failing ones, as a proof needs: the report names ${file}, ` +
    'which is no test file of the base'
  )
}

function notSeen(run: CompletedTests, canaries: readonly Canary[], patch: Patch | null): string {
  const passed = canaries.some((canary) =>
    run.tests.some((test) => test.file === canary.path && test.status === 'passed'),
  )
  const seen = passed ? 'was reported as passed' : 'was not reported'
  return patch
    ? `a test that must fail was added beside the failing tests, and on the patched copy it ${seen}: ` +
        'the patch makes tests pass that must fail, or keeps them from being run. Repair what the ' +
        'tests check, and leave the test runner, its assertions and the process alone'
    : `a test that must fail was added beside the failing tests, and on the base it ${seen}: results ` +
        'of this command cannot be believed, with or without a patch. Name a command in .astra.json ' +
        'that runs every test of a file, and reports it, when it is given the file'
}
