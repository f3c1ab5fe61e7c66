import { join } from 'node:path'
import { z } from 'zod'
import {
  brokenFile,
  type FoundTest,
  jsonLines,
  type ParsedReport,
  type RawReport,
  type TestEntry,
  testFile,
  unreadable,
  withIds,
} from '../report.ts'
import type { TestRunnerAdapter } from './runner.ts'

const module = join(import.meta.dirname, 'unittest_report.py')

const FAILED_IMPORT = 'unittest.loader._FailedTest.'

const lineSchema = z.object({
  id: z.string(),
  file: z.string(),
  status: z.enum(['passed', 'failed', 'skipped']),
  message: z.string(),
})
const endSchema = z.object({ end: z.literal(true) })

export const unittestRunner: TestRunnerAdapter = {
  installHint: 'install Python 3, see https://www.python.org',
  invocation: ({ args, reportFile }) => ({ argv: ['python', module, reportFile, ...args] }),
  parse,
}

function parse(report: RawReport): ParsedReport {
  if (report.file === null) return unreadable('unittest wrote no report')
  const lines = jsonLines(report.file)
  if (!lines || !endSchema.safeParse(lines.pop()).success) {
    return unreadable('the report of unittest is cut off')
  }
  const parsed = z.array(lineSchema).safeParse(lines)
  if (!parsed.success) return unreadable('the report of unittest has an unknown form')
  const broken: TestEntry[] = []
  const found: FoundTest[] = []
  for (const line of parsed.data) {
    const file = testFile(report.root, line.file)
    if (line.id.startsWith(FAILED_IMPORT)) broken.push(brokenFile(file, line.message))
    else found.push({ ...line, ...placeOf(line.id, file) })
  }
  return { readable: true, tests: [...withIds(found, '::'), ...broken] }
}

/** `tests.test_a.TestCart.test_total` stands in the file of its class, or of its module. */
function placeOf(id: string, file: string) {
  // An error in setUpClass has the id `setUpClass (tests.test_a.TestCart)`.
  const hook = /^(\w+) \((.+)\)$/.exec(id)
  const parts = hook ? [...(hook[2] ?? '').split('.'), hook[1] ?? ''] : id.split('.')
  const name = parts.pop() ?? id
  const suite = hook && /Module$/.test(name) ? [] : parts.splice(-1)
  const inWorkspace = file !== '' && !file.startsWith('..') && !hook
  return {
    file: inWorkspace ? file : `${parts.join('/')}.py`,
    suites: suite,
    name,
  }
}
