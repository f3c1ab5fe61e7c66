import { z } from 'zod'
import {
  brokenFile,
  type FoundTest,
  type ParsedReport,
  type RawReport,
  type TestEntry,
  type TestStatus,
  testFile,
  unreadable,
  withIds,
} from '../run/report.ts'

const fileSchema = z.object({
  name: z.string(),
  status: z.string(),
  message: z.string().nullish(),
  assertionResults: z.array(
    z.object({
      ancestorTitles: z.array(z.string()),
      title: z.string(),
      status: z.string(),
      failureMessages: z.array(z.string()).nullish(),
      failing: z.boolean().nullish(),
    }),
  ),
})
const reportSchema = z.object({ testResults: z.array(fileSchema) })
type FileResult = z.infer<typeof fileSchema>

/** Reads the JSON report that jest has and vitest writes in the same form. */
export function parseJestReport(runner: string, report: RawReport): ParsedReport {
  if (report.file === null) return unreadable(`${runner} wrote no report`)
  let json: unknown
  try {
    json = JSON.parse(report.file)
  } catch {
    return unreadable(`the report of ${runner} is not JSON`)
  }
  const parsed = reportSchema.safeParse(json)
  if (!parsed.success) return unreadable(`the report of ${runner} has an unknown form`)
  const files = parsed.data.testResults
  return {
    readable: true,
    tests: [
      ...withIds(files.flatMap((file) => testsOf(file, report.root))),
      ...files.flatMap((file) => fileFailure(file, report.root)),
    ],
  }
}

function testsOf(file: FileResult, root: string): FoundTest[] {
  return file.assertionResults.map((test) => ({
    file: testFile(root, file.name),
    suites: test.ancestorTitles,
    name: test.title,
    // A test that is marked to fail and does counts as passed in the report; it proves nothing.
    status: test.failing ? 'skipped' : statusOf(test.status),
    message: (test.failureMessages ?? []).join('\n'),
  }))
}

function statusOf(status: string): TestStatus {
  return status === 'passed' || status === 'failed' ? status : 'skipped'
}

/** A file that did not load has no tests; one whose hook failed has none that failed. */
function fileFailure(file: FileResult, root: string): TestEntry[] {
  const explained = file.assertionResults.some((test) => test.status === 'failed')
  if (file.status !== 'failed' || explained) return []
  return [brokenFile(testFile(root, file.name), file.message ?? '')]
}
