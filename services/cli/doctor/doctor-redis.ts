import semver from 'semver'
import type { Config } from '../../../shared/config.ts'
import { errorText } from '../../../shared/errors.ts'
import { addressText, connectToRedis } from '../with-services.ts'
import type { Finding } from './check.ts'

/** Whether the Redis that this installation uses can be trusted with its queues. */
export async function examineRedisServer(config: Config): Promise<Finding> {
  const address = addressText(config)
  let info: Map<string, string>
  try {
    const redis = await connectToRedis(config)
    info = parseInfo(await redis.info()).set('address', address)
    redis.disconnect()
  } catch (error) {
    return { result: 'fail', found: errorText(error), advice: 'start it, or correct REDIS_URL' }
  }
  return judge(info)
}

function judge(info: Map<string, string>): Finding {
  const version = info.get('redis_version') ?? '0'
  const found = `${version} at ${info.get('address')}`
  const number = semver.coerce(version)
  if (!number || semver.lt(number, '6.2.0')) {
    return { result: 'fail', found, advice: '6.2 or newer is needed' }
  }
  const policy = info.get('maxmemory_policy')
  if (policy !== 'noeviction') {
    return {
      result: 'fail',
      found: `${found}, maxmemory-policy ${policy}`,
      advice:
        'set maxmemory-policy noeviction: anything else throws jobs away when memory is short',
    }
  }
  if (info.get('aof_enabled') !== '1') {
    return {
      result: 'warn',
      found: `${found}, no append-only file`,
      advice: 'set appendonly yes: without it a crash of Redis loses runs',
    }
  }
  return { result: 'ok', found: `${found}, append-only file, noeviction`, advice: null }
}

function parseInfo(text: string): Map<string, string> {
  const pairs = text.split(/\r?\n/).map((line) => line.split(':', 2))
  return new Map(pairs.map(([name, value]) => [name ?? '', value ?? '']))
}
