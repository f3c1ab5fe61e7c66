import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { findProgram, redisServerCommand } from '../../shared/redis-server.ts'
import { type ChildSpec, whenReady } from './child.ts'

const READY_MS = 30_000

type Env = Record<string, string | undefined>

/** A Redis of this installation's own: a unix socket in a 0700 folder, no TCP port, AOF on. */
export async function redisChild(home: string, socket: string, env: Env): Promise<ChildSpec> {
  const data = join(home, 'redis')
  await mkdir(data, { recursive: true, mode: 0o700 })
  await mkdir(dirname(socket), { recursive: true, mode: 0o700 })
  const { server, args } = redisServerCommand({ data, socket }, env)
  // Redis has no channel to its supervisor, so the kernel ends it when the supervisor dies. Where
  // there is no setpriv (not Linux) the next supervisor ends it by the process register.
  const setpriv = findProgram(['setpriv'], env)
  const [command, prefix] = setpriv ? [setpriv, ['--pdeathsig', 'TERM', server]] : [server, []]
  return {
    name: 'redis',
    command,
    args: [...prefix, ...args],
    env: { PATH: env.PATH },
    channel: false,
    ready: (child) =>
      whenReady('redis-server', child, READY_MS, (done) => void ping(socket).then(done, () => {})),
  }
}

/** Resolves when Redis has read its append-only file and answers. */
async function ping(socket: string): Promise<void> {
  const redis = connectOrFail({ path: socket }, { waitMs: READY_MS })
  redis.on('error', () => {})
  try {
    await redis.ping()
  } finally {
    redis.disconnect()
  }
}
