import { XMLParser } from 'fast-xml-parser'
import { z } from 'zod'
import { narrowed } from '../discovery/narrow-command.ts'
import {
  brokenFile,
  type FoundTest,
  type ParsedReport,
  type RawReport,
  type TestEntry,
  testFile,
  unreadable,
  withIds,
} from '../run/report.ts'
import type { TestRunnerAdapter } from './runner.ts'

/** A problem's text, with or without attributes. */
const outcomeSchema = z.union([
  z.string().transform((text) => ({ text, message: '' })),
  z
    .object({ '#text': z.string().default(''), message: z.string().default('') })
    .transform((node) => ({ text: node['#text'], message: node.message })),
])
type Outcome = z.output<typeof outcomeSchema>

const caseSchema = z.object({
  classname: z.string().default(''),
  name: z.string(),
  file: z.string().default(''),
  failure: z.array(outcomeSchema).default([]),
  error: z.array(outcomeSchema).default([]),
  skipped: z.array(z.unknown()).default([]),
})
type Case = z.infer<typeof caseSchema>

const suiteSchema = z.union([
  z.literal('').transform(() => ({ testcase: [] })),
  z.object({ testcase: z.array(caseSchema).default([]) }),
])
const reportSchema = z.object({
  testsuites: z.union([
    z.literal('').transform(() => ({ testsuite: [] })),
    z.object({ testsuite: z.array(suiteSchema).default([]) }),
  ]),
})

const LISTS = new Set(['testsuite', 'testcase', 'failure', 'error', 'skipped'])
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  htmlEntities: true,
  isArray: (name, _path, _leaf, isAttribute) => !isAttribute && LISTS.has(name),
})

const OPTIONS = {
  takesValue:
    /^(-[ckmoprnW]|--(config-file|rootdir|confcutdir|override-ini|pythonwarnings|numprocesses|dist|ignore|ignore-glob|deselect|import-mode|basetemp|tb|durations|durations-min|capture|cov|cov-report|cov-config|timeout|log-level|log-cli-level|log-file|show-capture|junit-prefix|verbosity|reruns|reruns-delay))$/,
}

export const pytestRunner: TestRunnerAdapter = {
  installHint: 'install pytest, for instance with `python -m pip install pytest`',
  argv: ({ args, reportFile, files }) => [
    'python',
    '-m',
    'pytest',
    // Paths in the report are relative to it, and it would follow from the files that are named.
    '--rootdir=.',
    ...(files ? narrowed(args, files, OPTIONS) : args),
    '--color=no',
    // A configuration may end the run at the first failure.
    '--maxfail=0',
    // Without it one file that does not load keeps all others from running.
    '--continue-on-collection-errors',
    '-o',
    'junit_family=xunit1',
    `--junitxml=${reportFile}`,
  ],
  parse,
}

function parse(report: RawReport): ParsedReport {
  if (report.file === null) return unreadable('pytest wrote no report')
  const cases = casesOf(report.file)
  if (!cases) return unreadable('the report of pytest is not a JUnit file')
  const broken: TestEntry[] = []
  const found: FoundTest[] = []
  for (const testCase of cases) {
    const file = fileOf(testCase, report.root)
    const collection = testCase.error.find((error) => error.message === 'collection failure')
    if (collection) broken.push(brokenFile(file || testCase.name, collection.text))
    else found.push(foundTest(testCase, file))
  }
  return { readable: true, tests: [...withIds(merged(found), '::'), ...broken] }
}

function casesOf(xml: string): Case[] | null {
  try {
    const parsed = reportSchema.safeParse(parser.parse(xml, true))
    return parsed.success
      ? parsed.data.testsuites.testsuite.flatMap((suite) => suite.testcase)
      : null
  } catch {
    return null
  }
}

function foundTest(testCase: Case, file: string): FoundTest {
  const problems = [...testCase.failure, ...testCase.error]
  const done = testCase.skipped.length > 0 ? 'skipped' : 'passed'
  return {
    file,
    suites: classesOf(testCase.classname, file),
    name: testCase.name,
    status: problems.length > 0 ? 'failed' : done,
    message: problems.map(problemText).join('\n'),
  }
}

function problemText(problem: Outcome): string {
  return problem.text || problem.message
}

/**
 * The file that was collected. The report names the one with the function's text, which may be that
 * of a base class or a decorator. Classes begin with a capital, modules do not.
 */
function fileOf({ classname, file }: Case, root: string): string {
  const named = testFile(root, file)
  if (isUnder(classname, named)) return named
  const parts = classname.split('.')
  const module = parts.findLastIndex((part) => !/^[A-Z]/.test(part))
  return module < 0 ? named : `${parts.slice(0, module + 1).join('/')}.py`
}

function isUnder(classname: string, file: string): boolean {
  const module = moduleOf(file)
  return classname === '' || classname === module || classname.startsWith(`${module}.`)
}

const moduleOf = (file: string) => file.replace(/\.py$/, '').split('/').join('.')

/** `tests.test_a.TestCart` in `tests/test_a.py` has the suites `TestCart`. */
function classesOf(classname: string, file: string): string[] {
  const module = moduleOf(file)
  return classname.startsWith(`${module}.`) ? classname.slice(module.length + 1).split('.') : []
}

/** A test that fails and whose teardown fails too has two entries in a row: they are one test. */
function merged(found: readonly FoundTest[]): FoundTest[] {
  const result: FoundTest[] = []
  for (const test of found) {
    const last = result.at(-1)
    const same =
      last?.name === test.name &&
      last.file === test.file &&
      last.suites.join() === test.suites.join()
    if (last && same && last.status === 'failed' && test.status === 'failed') {
      result[result.length - 1] = { ...last, message: `${last.message}\n${test.message}` }
    } else {
      result.push(test)
    }
  }
  return result
}
