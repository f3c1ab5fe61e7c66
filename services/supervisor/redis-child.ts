import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { UnavailableError } from '../../shared/errors.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { type ChildSpec, whenReady } from './child.ts'

const READY_MS = 30_000

/** A Redis of this installation's own: a unix socket in a 0700 folder, no TCP port, AOF on. */
export async function redisChild(home: string, socket: string, env: Env): Promise<ChildSpec> {
  const data = join(home, 'redis')
  await mkdir(data, { recursive: true, mode: 0o700 })
  await mkdir(dirname(socket), { recursive: true, mode: 0o700 })
  const server = findProgram(['redis-server', 'valkey-server'], env)
  if (!server) {
    throw new UnavailableError('redis-server was not found', {
      hint: 'install it (apt-get install redis-server, brew install redis) or set REDIS_URL',
    })
  }
  const args = [
    ...['--port', '0', '--unixsocket', socket, '--unixsocketperm', '700'],
    ...['--dir', data, '--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
    ...['--maxmemory-policy', 'noeviction', '--daemonize', 'no'],
  ]
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

type Env = Record<string, string | undefined>

export function findProgram(names: string[], env: Env): string | null {
  const folders = [...(env.PATH ?? '').split(delimiter), '/usr/local/bin', '/usr/bin', '/usr/sbin']
  for (const name of names) {
    const folder = folders.find((each) => each !== '' && existsSync(join(each, name)))
    if (folder) return join(folder, name)
  }
  return null
}
