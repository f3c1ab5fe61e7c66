import { type Logger, pino } from 'pino'

/** JSON lines on stderr; stdout belongs to what a person asked for. */
export function createLogger(service: string, level: string): Logger {
  return pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: ['*.apiKey', '*.authorization', 'headers.authorization'],
        censor: '[removed]',
      },
    },
    pino.destination({ dest: 2, sync: true }),
  )
}

export type { Logger }
