import { z } from 'zod'
import { narrowed } from '../discovery/narrow-command.ts'
import {
  type FoundTest,
  type ParsedReport,
  type RawReport,
  type TestStatus,
  testFile,
  unreadable,
  withIds,
} from '../run/report.ts'
import type { TestRunnerAdapter } from './runner.ts'

const testSchema = z.object({
  title: z.string(),
  fullTitle: z.string(),
  file: z.string().nullish(),
  duration: z.number().nullish(),
  err: z.object({ stack: z.string().nullish(), message: z.string().nullish() }).nullish(),
})
type MochaTest = z.infer<typeof testSchema>

const reportSchema = z.object({ tests: z.array(testSchema), failures: z.array(testSchema) })

const OPTIONS = {
  takesValue:
    /^(-[rfgutsjnO]|--(config|package|require|import|loader|fgrep|grep|ui|timeout|slow|ignore|exclude|extension|file|retries|jobs|node-option|reporter-option|reporter-options|global|globals))$/,
  selects: /^--spec$/,
}

export const mochaRunner: TestRunnerAdapter = {
  installHint: 'run `npm install` in the workspace: mocha is not in its node_modules',
  argv: ({ args, reportFile, files }) => [
    'mocha',
    ...(files ? narrowed(args, files, OPTIONS) : args),
    // A configuration may end the run at the first failure.
    '--no-bail',
    '--reporter',
    'json',
    '--reporter-option',
    `output=${reportFile}`,
  ],
  parse,
}

function parse(report: RawReport): ParsedReport {
  if (report.file === null) {
    return unreadable('mocha wrote no report: when one file does not load, it runs none')
  }
  let json: unknown
  try {
    json = JSON.parse(report.file)
  } catch {
    return unreadable('the report of mocha is not JSON')
  }
  const parsed = reportSchema.safeParse(json)
  if (!parsed.success) return unreadable('the report of mocha has an unknown form')
  // A hook that failed is no test of the list, only one of the failures.
  const hooks = parsed.data.failures.filter((test) => / hook(:| for |$)/.test(test.title))
  const found = [
    ...parsed.data.tests.map((test) => foundTest(test, report.root)),
    ...hooks.map((hook) => ({ ...foundTest(hook, report.root), isHook: true })),
  ]
  return { readable: true, tests: withIds(found) }
}

function foundTest(test: MochaTest, root: string): FoundTest {
  const suite = test.fullTitle.slice(0, -test.title.length).trim()
  return {
    file: testFile(root, test.file ?? ''),
    suites: suite === '' ? [] : [suite],
    name: test.title,
    status: statusOf(test),
    message: test.err?.stack ?? test.err?.message ?? '',
  }
}

function statusOf(test: MochaTest): TestStatus {
  if (test.err?.stack || test.err?.message) return 'failed'
  // What was pending never ran, so it has no duration.
  return typeof test.duration === 'number' ? 'passed' : 'skipped'
}
