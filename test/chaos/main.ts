import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { crashPoints } from '../../shared/crash-point.ts'
import { errorText } from '../../shared/errors.ts'
import { chaos, crashGroups } from './chaos.ts'
import { reportOf, reportText } from './report.ts'

/** Several times what a sound system needs. */
const SECONDS_IN_ALL = 900
const SECONDS_PER_RUN = 30
const LAST_WORDS_MS = 300_000

const values = options()
const runs = wholeNumber('--runs', values.runs ?? '100')
const seed = wholeNumber('--seed', values.seed ?? String(1 + (Date.now() % 1_000_000)))

process.stderr.write(`seed ${seed}\n`)
const deadlineMs = (SECONDS_IN_ALL + SECONDS_PER_RUN * runs) * 1000
// When even the end hangs: this process's end gives up its leases, and everything else ends by that.
setTimeout(() => process.exit(1), deadlineMs + LAST_WORDS_MS).unref()
const result = await chaos({
  seed,
  runs,
  faults: runs,
  crashGroups: crashGroups(crashPoints.length),
  runsPerGroup: 1,
  lanes: 3,
  signal: AbortSignal.timeout(deadlineMs),
  log: (line) => process.stderr.write(`${line}\n`),
})
const report = reportOf({ seed }, result)
process.stdout.write(`${reportText(report)}\n`)
if (values.json) await writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`)
process.exit(report.findings.length === 0 ? 0 : 1)

function options() {
  const text = { type: 'string' } as const
  try {
    return parseArgs({ options: { runs: text, seed: text, json: text } }).values
  } catch (error) {
    return wrongUsage(errorText(error))
  }
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= 1 && value <= 1_000_000_000) return value
  return wrongUsage(`${option} must be a whole number from 1 on, not ${text}`)
}

function wrongUsage(message: string): never {
  process.stderr.write(`${message}\nusage: npm run chaos -- [--runs N] [--seed N] [--json FILE]\n`)
  process.exit(2)
}
