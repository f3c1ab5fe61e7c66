import { hostname } from 'node:os'
import { readConfig, withDotEnv } from '../shared/config.ts'
import { errorText, UnavailableError } from '../shared/errors.ts'
import { listHeartbeats } from '../shared/heartbeat.ts'
import { connectOrFail, type RedisAddress } from '../shared/queue/connection.ts'

/**
 * What a container's health check runs: `node ops/healthcheck.ts SERVICE [URL]`. Ends with 0 when the
 * service of this container has a heartbeat in Redis and, where a URL is given, answers there; with 1
 * and a line that says why when not.
 */
const REDIS_MS = 3_000
const ANSWER_MS = 3_000

const [service, url] = process.argv.slice(2)
const problem = service
  ? await problemOf(service, url).catch(errorText)
  : 'usage: node ops/healthcheck.ts SERVICE [URL]'
process.stdout.write(`${problem ?? 'well'}\n`)
process.exit(problem === null ? 0 : 1)

async function problemOf(service: string, url: string | undefined): Promise<string | null> {
  const silent = await heartbeatProblem(service, readConfig(withDotEnv(process.env)).redis)
  return silent ?? (url ? await answerProblem(url) : null)
}

async function heartbeatProblem(service: string, address: RedisAddress): Promise<string | null> {
  const redis = connectOrFail(address, { waitMs: REDIS_MS })
  let why = ''
  redis.on('error', (error) => {
    why = `: ${errorText(error)}`
  })
  try {
    const beats = await listHeartbeats(redis).catch((error) => {
      throw new UnavailableError(`Redis does not answer${why}`, { cause: error })
    })
    const own = beats.some(
      (beat) => beat.service === service && beat.host === hostname() && isThere(beat.pid),
    )
    return own ? null : `no heartbeat of ${service} on ${hostname()}`
  } finally {
    redis.disconnect()
  }
}

/** A heartbeat outlives its process for some seconds, and a container keeps its host name. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function answerProblem(url: string): Promise<string | null> {
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
  return response.ok ? null : `${url} answers ${response.status}: ${await response.text()}`
}
