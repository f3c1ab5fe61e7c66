import { z } from 'zod'

/** From the least to the gravest. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type LogLevel = (typeof logLevels)[number]

export type LogEntry = {
  /** ISO; null where nothing says it. */
  time: string | null
  /** The name of its log: a service, `redis`, or `embedder-2`. */
  process: string
  level: LogLevel
  message: string
  run_id: string | null
  error: { message: string; stack: string | null } | null
  /** What else the line has. */
  fields: Record<string, unknown>
}

/** What pino writes. */
const lineSchema = z.looseObject({
  level: z.number(),
  time: z.iso.datetime(),
  msg: z.string().default(''),
  runId: z.string().nullable().default(null),
  err: z
    .looseObject({ type: z.string().optional(), message: z.string(), stack: z.string().optional() })
    .optional(),
})

/** Such as `1234:M 29 Nov 2026 21:16:44.293 * Ready to accept connections`, in local time. */
const REDIS_LINE = /^\d+:[A-Z] (\d{2} \w{3} \d{4} [\d:.]+) ([.\-*#]) (.*)$/
const REDIS_LEVELS: Record<string, LogLevel> = {
  '.': 'trace',
  '-': 'debug',
  '*': 'info',
  '#': 'warn',
}

/** `before`: the time of the line before this one in the same log, for one that does not say its own. */
export function parseLogLine(process: string, line: string, before: string | null): LogEntry {
  return pinoEntry(process, line) ?? redisEntry(process, line) ?? otherEntry(process, line, before)
}

function pinoEntry(process: string, line: string): LogEntry | null {
  const parsed = lineSchema.safeParse(parseJson(line))
  if (!parsed.success) return null
  const { level, time, msg, runId, err, service: _service, pid: _pid, ...fields } = parsed.data
  const error = err && {
    message: err.type ? `${err.type}: ${err.message}` : err.message,
    stack: err.stack ?? null,
  }
  const name = logLevels[Math.min(Math.max(Math.floor(level / 10), 1), logLevels.length) - 1]
  return {
    time,
    process,
    level: name ?? 'info',
    message: msg,
    run_id: runId,
    error: error ?? null,
    fields,
  }
}

function redisEntry(process: string, line: string): LogEntry | null {
  const [, time = '', mark = '', message = ''] = REDIS_LINE.exec(line) ?? []
  const at = new Date(time)
  if (time === '' || Number.isNaN(at.getTime())) return null
  const level = REDIS_LEVELS[mark] ?? 'info'
  return { ...otherEntry(process, message, at.toISOString()), level }
}

/** What a process wrote past its logger is seldom good news. */
function otherEntry(process: string, message: string, time: string | null): LogEntry {
  return { time, process, level: 'warn', message, run_id: null, error: null, fields: {} }
}

function parseJson(line: string): unknown {
  if (!line.startsWith('{')) return null
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
