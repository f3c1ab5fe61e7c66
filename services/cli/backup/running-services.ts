import { createConnection } from 'node:net'
import type { Config } from '../../../shared/config.ts'
import { UsageError } from '../../../shared/errors.ts'
import { listHeartbeats } from '../../../shared/heartbeat.ts'
import { addressText, connectToRedis } from '../with-services.ts'

/** Throws UsageError while anything works with the data of this installation. Its supervisor's lock is held. */
export async function refuseRunningServices(config: Config): Promise<void> {
  if ('path' in config.redis) {
    if (!(await listens(config.redis.path))) return
    throw new UsageError(`a Redis still runs at ${config.redis.path}`, {
      hint: 'it ends by itself when its supervisor was killed: try again in some seconds',
    })
  }
  const redis = await connectToRedis(config)
  const beats = await listHeartbeats(redis).finally(() => redis.disconnect())
  if (beats.length === 0) return
  const names = beats.map(({ service, host, pid }) => `${service} on ${host} (process ${pid})`)
  throw new UsageError(`services run at ${addressText(config)}: ${names.join(', ')}`, {
    hint: 'end them, then restore; one that was killed counts as gone after 16 s',
  })
}

function listens(socket: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const probe = createConnection(socket)
  probe.once('connect', () => resolve(true))
  probe.once('error', () => resolve(false))
  return promise.finally(() => probe.destroy())
}
