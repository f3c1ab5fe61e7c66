import { z } from 'zod'
import { narrowed } from '../discovery/narrow-command.ts'
import {
  brokenFile,
  type FoundTest,
  type ParsedReport,
  type RawReport,
  type TestEntry,
  unreadable,
  withIds,
} from '../run/report.ts'
import type { TestRunnerAdapter } from './runner.ts'

const eventSchema = z.object({
  Action: z.string(),
  Package: z.string().optional(),
  ImportPath: z.string().optional(),
  Test: z.string().optional(),
  Output: z.string().optional(),
  FailedBuild: z.string().optional(),
})
type GoEvent = z.infer<typeof eventSchema>

const FRAMING = /^(=== (RUN|PAUSE|CONT|NAME)|--- (FAIL|PASS|SKIP))/

const OPTIONS = {
  takesValue:
    /^--?(test\.)?(run|skip|bench|benchtime|tags|timeout|cpu|parallel|p|mod|modfile|ldflags|gcflags|asmflags|covermode|coverpkg|coverprofile|o|exec|shuffle|vet|C|overlay|buildmode|installsuffix|outputdir)$/,
}

export const goRunner: TestRunnerAdapter = {
  installHint: 'install Go, see https://go.dev/dl',
  // Without -count=1 results come from a cache.
  argv: ({ args, files }) => [
    'go',
    'test',
    '-json',
    '-count=1',
    ...(files ? onlyPackages(args, files) : args),
  ],
  parse,
  readableOutput: (stdout) =>
    eventsOf(stdout)
      .map((event) => event.Output ?? '')
      .join(''),
}

/** What follows -args is for the tests themselves. */
function onlyPackages(args: readonly string[], packages: readonly string[]): string[] {
  const end = args.findIndex((arg) => /^--?args$/.test(arg))
  const own = end < 0 ? [] : args.slice(end)
  return [...narrowed(end < 0 ? args : args.slice(0, end), packages, OPTIONS), ...own]
}

function parse(report: RawReport): ParsedReport {
  const events = eventsOf(report.stdout)
  if (events.length === 0) return unreadable('go test wrote no report')
  const outputs = outputsOf(events)
  const found: FoundTest[] = []
  const failedPackages: GoEvent[] = []
  for (const event of events) {
    if (event.Package === undefined) continue
    if (event.Action !== 'pass' && event.Action !== 'fail' && event.Action !== 'skip') continue
    if (event.Test !== undefined) found.push(foundTest(event, event.Test, outputs))
    else if (event.Action === 'fail') failedPackages.push(event)
  }
  const pattern = failedPackages.find((event) => event.Package?.includes('...'))
  if (pattern) return unreadable(`go test could not list the packages of ${pattern.Package}`)
  const explained = new Set(found.filter((test) => test.status === 'failed').map((t) => t.file))
  const broken = failedPackages
    .filter((event) => !explained.has(event.Package ?? ''))
    .map((event) => brokenPackage(event, outputs))
  return { readable: true, tests: [...withIds(found), ...broken] }
}

/** The JSON lines of stdout; others are what a tool printed between them. */
function eventsOf(stdout: string): GoEvent[] {
  const events: GoEvent[] = []
  for (const line of stdout.split('\n')) {
    if (!line.startsWith('{')) continue
    try {
      const parsed = eventSchema.safeParse(JSON.parse(line))
      if (parsed.success) events.push(parsed.data)
    } catch {
      // A test's own output that starts with a brace.
    }
  }
  return events
}

const outputKey = (place: string, test = '') => `${place}\n${test}`

function outputsOf(events: readonly GoEvent[]): Map<string, string> {
  const outputs = new Map<string, string>()
  for (const { Package, ImportPath, Test, Output } of events) {
    if (Output === undefined || FRAMING.test(Output.trimStart())) continue
    const key = outputKey(ImportPath ?? Package ?? '', Test)
    outputs.set(key, `${outputs.get(key) ?? ''}${Output}`.slice(0, 8000))
  }
  return outputs
}

function foundTest(event: GoEvent, test: string, outputs: Map<string, string>): FoundTest {
  const suites = test.split('/')
  const name = suites.pop() ?? test
  const status = event.Action === 'pass' ? 'passed' : 'failed'
  return {
    file: event.Package ?? '',
    suites,
    name,
    status: event.Action === 'skip' ? 'skipped' : status,
    message:
      event.Action === 'fail' ? (outputs.get(outputKey(event.Package ?? '', test)) ?? '') : '',
  }
}

function brokenPackage(event: GoEvent, outputs: Map<string, string>): TestEntry {
  const place = event.Package ?? ''
  const build = event.FailedBuild ? outputs.get(outputKey(event.FailedBuild)) : undefined
  return brokenFile(place, build ?? outputs.get(outputKey(place)) ?? '')
}
