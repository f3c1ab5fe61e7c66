import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { UnavailableError } from './errors.ts'

type Env = Record<string, string | undefined>

/**
 * A Redis of an installation's own: a unix socket, no TCP port, and an append-only file in `data`.
 * Throws UnavailableError when the machine has none.
 */
export function redisServerCommand(
  { data, socket }: { data: string; socket: string },
  env: Env,
): { server: string; args: string[] } {
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
  return { server, args }
}

export function findProgram(names: string[], env: Env): string | null {
  const folders = [...(env.PATH ?? '').split(delimiter), '/usr/local/bin', '/usr/bin', '/usr/sbin']
  for (const name of names) {
    const folder = folders.find((each) => each !== '' && existsSync(join(each, name)))
    if (folder) return join(folder, name)
  }
  return null
}
