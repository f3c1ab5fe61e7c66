import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { narrowed } from '../discovery/narrow-command.ts'
import {
  brokenFile,
  type FoundTest,
  jsonLines,
  type ParsedReport,
  type RawReport,
  testFile,
  unreadable,
  withIds,
} from '../run/report.ts'
import type { TestRunnerAdapter } from './runner.ts'

const lineSchema = z.object({
  file: z.string(),
  suites: z.array(z.string().nullable()),
  name: z.string(),
  isFile: z.boolean(),
  isSuite: z.boolean(),
  passed: z.boolean(),
  skipped: z.boolean(),
  failureType: z.string().nullable(),
  message: z.string(),
})
type Line = z.infer<typeof lineSchema>
const endSchema = z.object({ end: z.literal(true) })

/** A form with "=" has its value in the same word. */
const OPTIONS = {
  takesValue:
    /^(-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file|--env-file-if-exists|--test-(name-pattern|skip-pattern|concurrency|timeout|isolation|global-setup)|--experimental-test-isolation|--test-coverage-\w+|--disable-warning|--input-type)$/,
  selects: /^--test-shard$/,
}

export const nodeRunner: TestRunnerAdapter = {
  installHint: 'install Node.js, see https://nodejs.org',
  argv: ({ args, reportFile, reporters, files }) => [
    'node',
    '--test',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${pathToFileURL(join(reporters, 'node-reporter.mjs')).href}`,
    `--test-reporter-destination=${reportFile}`,
    ...(files ? narrowed(args, files, OPTIONS) : args),
  ],
  parse,
}

function parse(report: RawReport): ParsedReport {
  if (report.file === null) return unreadable('node --test wrote no report')
  const lines = jsonLines(report.file)
  if (!lines || !endSchema.safeParse(lines.pop()).success) {
    return unreadable('the report of node --test is cut off')
  }
  const parsed = z.array(lineSchema).safeParse(lines)
  if (!parsed.success) return unreadable('the report of node --test has an unknown form')
  const broken = parsed.data.filter((line) => line.isFile && !line.passed)
  return {
    readable: true,
    tests: [
      ...withIds(parsed.data.filter(isTest).map((line) => foundTest(line, report.root))),
      ...broken.map((line) => brokenFile(testFile(report.root, line.file), line.message)),
    ],
  }
}

/** A passed entry for a whole file is no test: an early exit(0) in it looks the same. */
function isTest(line: Line): boolean {
  if (line.isFile) return false
  // A suite counts only for a failure of its own, such as one in a hook.
  return !line.isSuite || (!line.passed && line.failureType !== 'subtestsFailed')
}

function foundTest(line: Line, root: string): FoundTest {
  const ran = line.passed ? 'passed' : 'failed'
  return {
    file: testFile(root, line.file),
    suites: line.suites.map((suite) => suite ?? ''),
    name: line.name,
    status: line.skipped ? 'skipped' : ran,
    message: line.message,
    isHook: line.isSuite,
  }
}
