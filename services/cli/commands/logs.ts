import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../../../shared/errors.ts'
import type { CliContext } from '../context.ts'
import { logText } from '../format/format-log.ts'
import { createTerminal } from '../format/terminal.ts'
import { type LogEntry, type LogLevel, logLevels } from '../logs/log-entry.ts'
import { isOfService, LogReader, logNames } from '../logs/read-logs.ts'
import { runId, wholeNumber } from '../run-options.ts'

type Options = {
  follow?: boolean
  since?: Date
  level: LogLevel
  run?: string
  lines?: number
  verbose?: boolean
  json?: boolean
}

const LOOK_EVERY_MS = 250
const MAX_LINES = 100_000

export function addLogsCommand(program: Command, context: CliContext): void {
  program
    .command('logs')
    .description('show what the services wrote, of all of them by time')
    .argument('[service]', 'only this one, such as test-runner, or one process: embedder-2')
    .option('-f, --follow', 'go on with what is added, until Ctrl-C')
    .option('--since <time>', 'how long ago, such as 30s, 10m, 2h or 1d, or an ISO time', sinceTime)
    .addOption(
      new Option('--level <level>', 'this one and graver ones').choices(logLevels).default('info'),
    )
    .option('--run <run>', 'only lines that name this run', runId)
    .option(
      '-n, --lines <n>',
      `the last so many: 200, with --since ${MAX_LINES}`,
      wholeNumber(1, MAX_LINES),
    )
    .option('--verbose', 'with the stacks of errors')
    .option('--json', 'print them as JSON; with --follow one a line')
    .action((service: string | undefined, options: Options) =>
      logs(context, service ?? null, options),
    )
}

async function logs(context: CliContext, service: string | null, options: Options): Promise<void> {
  const terminal = createTerminal(options)
  const { follow = false, since = null, level, run = null, verbose = false, json } = options
  const folder = join(context.config().home, 'logs')
  await requireLog(folder, service, follow)
  const reader = new LogReader(folder, { service, since, level, run })
  const show = (entry: LogEntry) => {
    if (!json) terminal.print(logText(terminal, entry, verbose))
    else if (follow) process.stdout.write(`${JSON.stringify(entry)}\n`)
  }
  const present = await reader.present(options.lines ?? (since ? MAX_LINES : 200))
  if (!follow) terminal.printJson({ logs: folder, lines: present })
  present.forEach(show)
  if (present.length === 0 && !follow) terminal.note(`there is no such line in ${folder}`)
  // Ctrl-C is the way to end this command, so it is no error.
  while (follow && !context.interrupted.aborted) {
    await delay(LOOK_EVERY_MS, undefined, { signal: context.interrupted }).catch(() => {})
    for (const entry of await reader.added()) show(entry)
  }
  await reader.close()
}

/** A slip in a name would show nothing, or wait for ever. */
async function requireLog(folder: string, service: string | null, follow: boolean): Promise<void> {
  const names = await logNames(folder)
  if (service === null || names.some((name) => isOfService(name, service))) return
  const known = names.length > 0 ? `there are: ${names.join(', ')}` : 'nothing was started yet'
  const hint = follow ? `${known}; without a name all are followed, also new ones` : known
  throw new UsageError(`there is no log of ${service} in ${folder}`, { hint })
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function sinceTime(text: string): Date {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const time = count ? new Date(Date.now() - Number(count) * (UNITS[unit] ?? 0)) : new Date(text)
  const isTime = count !== undefined || /^\d{4}-\d{2}-\d{2}/.test(text)
  if (isTime && !Number.isNaN(time.getTime())) return time
  throw new InvalidArgumentError('It must be such as 30s, 10m, 2h, 1d or 2026-01-31T12:00:00Z.')
}
