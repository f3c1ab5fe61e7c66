import type { LogEntry, LogLevel } from '../logs/log-entry.ts'
import { oneLine, plain, type Terminal } from './terminal.ts'

const MAX_MESSAGE = 1_000
const MAX_FIELD = 120

/** A log line for people; `verbose`: with the stacks of errors. */
export function logText({ style }: Terminal, entry: LogEntry, verbose: boolean): string {
  const { time, process, level, message, run_id: run, error, fields } = entry
  const paint: Record<LogLevel, (text: string) => string> = {
    trace: style.dim,
    debug: style.dim,
    info: (text) => text,
    warn: style.yellow,
    error: style.red,
    fatal: style.red,
  }
  const words = [
    style.dim((time ?? '').padEnd(24)),
    style.cyan(process.padEnd(14)),
    paint[level](level.padEnd(5)),
    oneLine(message, MAX_MESSAGE),
    ...(run === null ? [] : [style.dim(`run=${oneLine(run, MAX_FIELD)}`)]),
    ...Object.entries(fields).map(([name, value]) => style.dim(`${name}=${fieldText(value)}`)),
    ...(error === null ? [] : [paint[level](oneLine(error.message, MAX_MESSAGE))]),
  ]
  const stack = verbose && error?.stack ? `\n${indented(error.stack)}` : ''
  return `${words.join('  ')}${stack}`
}

function fieldText(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), MAX_FIELD)
}

function indented(text: string): string {
  return plain(text).replace(/^/gm, '    ')
}
