import { readConfig, withDotEnv } from '../../shared/config.ts'
import { UNSAFE_FLAG, WORKERS_FLAG } from '../../shared/contracts/supervisor.ts'
import { errorText } from '../../shared/errors.ts'
import { createLogger } from '../../shared/logger.ts'
import { supervise } from './supervise.ts'

/**
 * One supervisor of each kind for each ASTRA_HOME. Clients start it detached, through shared/supervisor-client,
 * and its exit code says nothing: what they need to know comes over its socket.
 */
async function main(): Promise<void> {
  const env = withDotEnv(process.env)
  const config = readConfig(env)
  const log = createLogger('supervisor', config.ASTRA_LOG_LEVEL)
  const sandbox = !process.argv.includes(UNSAFE_FLAG)
  const kind = process.argv.includes(WORKERS_FLAG) ? 'workers' : 'supervisor'
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => stop.abort())
  }
  const ran = await supervise(config, env, { log, sandbox, kind }, stop.signal)
  if (!ran) log.info('another supervisor has this ASTRA_HOME')
  process.exit(0)
}

main().catch((error) => {
  process.stderr.write(`supervisor: ${errorText(error)}\n`)
  process.exit(1)
})
