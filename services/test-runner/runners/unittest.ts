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
} from '../run/report.ts'
import type { TestRunnerAdapter } from './runner.ts'

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
  argv: ({ args, reportFile, reporters, files }) => [
    'python',
    join(reporters, 'unittest_report.py'),
    reportFile,
    JSON.stringify(files),
    ...args,
  ],
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
    else found.push({ ...placeOf(line.id), file, status: line.status, message: line.message })
  }
  return { readable: true, tests: [...withIds(found, '::'), ...broken] }
}

/** The suite and name in `tests.test_a.TestCart.test_total`, or in `setUpClass (tests.test_a.TestCart)`. */
function placeOf(id: string): Pick<FoundTest, 'suites' | 'name' | 'isHook'> {
  const hook = /^(\w+) \((.+)\)$/.exec(id)
  if (hook) {
    const owner = (hook[2] ?? '').split('.').slice(-1)
    return { suites: owner, name: hook[1] ?? '', isHook: true }
  }
  const parts = id.split('.')
  return { suites: parts.slice(-2, -1), name: parts.at(-1) ?? id }
}
