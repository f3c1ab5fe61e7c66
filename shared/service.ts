import { type Config, readConfig, withDotEnv } from './config.ts'
import { armCrashPoints } from './crash-point.ts'
import { ConfigError, errorText } from './errors.ts'
import { createLogger, type Logger } from './logger.ts'
import { readDecision } from './pending-restore.ts'
import { startReporting } from './reporting.ts'
import { startTracing, stopTracing } from './tracing.ts'

/** How long a service may use to end its running jobs before they are aborted and handed back. */
const DRAIN_MS = 5_000
/** After this the process ends whatever still runs: every effect is safe to be cut off. */
const EXIT_MS = 10_000

export type RunningService = {
  /** Stops taking work and gives back what could not be ended within `deadlineMs`. */
  close(deadlineMs: number): Promise<void>
  /** What the supervisor passes on to other services, such as the port of an HTTP server. */
  announce?: Record<string, string | number>
}

/** A supervisor has ended such a restore before it starts a service; one without a supervisor stops here. */
function refuseHalfRestored(home: string): void {
  if (readDecision(home) === null) return
  throw new ConfigError(`a restore of ${home} was cut off`, {
    hint: 'run the same `astra restore` again, which ends it',
  })
}

/**
 * Runs a service until SIGTERM, SIGINT or the end of the channel to its supervisor, however that
 * died. The first signal drains, the second ends at once.
 */
export async function runService(
  name: string,
  start: (deps: { config: Config; log: Logger }) => Promise<RunningService>,
): Promise<void> {
  let config: Config
  try {
    config = readConfig(withDotEnv(process.env))
    armCrashPoints(process.env.ASTRA_CRASH_AT, config.home)
    refuseHalfRestored(config.home)
  } catch (error) {
    process.stderr.write(`${name}: ${errorText(error)}\n`)
    process.exit(1)
  }
  const log = createLogger(name, config.ASTRA_LOG_LEVEL)
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'unhandled rejection')
    process.exit(1)
  })

  let stopping = false
  let service: RunningService | undefined
  let reporting: { stop(): Promise<void> } | undefined
  const stop = (why: string) => {
    if (stopping) {
      // The end of the channel follows a signal in an ordinary stop; only a second signal forces.
      if (why !== 'channel closed') process.exit(1)
      return
    }
    stopping = true
    log.info({ why }, 'stopping')
    setTimeout(() => process.exit(1), EXIT_MS).unref()
    void Promise.resolve(service?.close(DRAIN_MS))
      .then(() => Promise.all([reporting?.stop(), stopTracing()]))
      .then(
        () => process.exit(0),
        (error) => {
          log.error({ err: error }, 'stop failed')
          process.exit(1)
        },
      )
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  process.on('disconnect', () => stop('channel closed'))

  try {
    await startTracing(name, config.OTEL_EXPORTER_OTLP_ENDPOINT)
    service = await start({ config, log })
  } catch (error) {
    log.fatal({ err: error }, 'start failed')
    process.stderr.write(`${name}: ${errorText(error)}\n`)
    process.exit(1)
  }
  if (stopping) await service.close(0)
  else reporting = startReporting(name, config.redis, log)
  process.send?.({ type: 'ready', ...service.announce })
  log.info({ ...service.announce }, 'ready')
}
