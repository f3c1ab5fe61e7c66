import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { UnavailableError } from '../../../shared/errors.ts'
import { connectOrFail } from '../../../shared/queue/connection.ts'
import { redisServerCommand } from '../../../shared/redis-server.ts'

type Env = Record<string, string | undefined>

/** Reading its append-only file, a command that takes all of the ledger. */
const WAIT_MS = 60_000
const END_MS = 30_000

/**
 * Runs `use` with a Redis on the data in a folder, which nobody else knows of. When it is over, all that
 * was written is on the disk. Throws UnavailableError when the data cannot be read.
 */
export async function withOwnRedis<T>(
  data: string,
  env: Env,
  use: (redis: Redis) => Promise<T>,
): Promise<T> {
  await mkdir(data, { recursive: true, mode: 0o700 })
  // A path that is short enough for a socket.
  const folder = await mkdtemp(join(tmpdir(), 'astra-redis-'))
  try {
    return await withServer({ data, socket: join(folder, 'redis.sock') }, env, use)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function withServer<T>(
  where: { data: string; socket: string },
  env: Env,
  use: (redis: Redis) => Promise<T>,
): Promise<T> {
  const { server, args } = redisServerCommand(where, env)
  const child = spawn(server, args, { stdio: 'ignore', env: { PATH: env.PATH } })
  const ended = once(child, 'exit')
  const redis = connectOrFail({ path: where.socket }, { waitMs: WAIT_MS })
  redis.on('error', () => {})
  try {
    await untilReady(redis, ended, where.data)
    return await use(redis)
  } finally {
    redis.disconnect()
    const deadline = setTimeout(() => child.kill('SIGKILL'), END_MS)
    // It writes its append-only file to the disk before it ends.
    child.kill('SIGTERM')
    await ended
    clearTimeout(deadline)
  }
}

/** Answers once it has loaded its data. */
async function untilReady(redis: Redis, ended: Promise<unknown>, data: string): Promise<void> {
  try {
    const failed = ended.then(() => Promise.reject(new Error('it ended')))
    await Promise.race([redis.ping(), failed])
  } catch (cause) {
    throw new UnavailableError(`no Redis starts on ${data}`, {
      hint:
        'if its data is damaged, move that folder away: a restore then knows by the evidence in ' +
        'ASTRA_HOME/ledger alone what was spent',
      cause,
    })
  }
}
