import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * redis-server is the one thing that npm does not have. On Debian and its relatives apt brings it;
 * elsewhere the person is told what to install. Nothing is needed when REDIS_URL names a server.
 */
export function ensureSystemPackages() {
  if (process.env.REDIS_URL || onPath('redis-server') || onPath('valkey-server')) return
  if (process.platform !== 'linux' || !onPath('apt-get')) {
    fail(
      'redis-server was not found.\n' +
        '  macOS:   brew install redis\n' +
        '  Fedora:  sudo dnf install redis (or valkey)\n' +
        '  or set REDIS_URL to a Redis 7 or Valkey server with maxmemory-policy noeviction',
    )
  }
  // Only a terminal can be asked for a password.
  const sudo = process.getuid() === 0 ? [] : process.stdin.isTTY ? ['sudo'] : ['sudo', '-n']
  if (sudo.length > 0 && !onPath('sudo'))
    fail('redis-server was not found: apt-get install redis-server')
  process.stderr.write('Installing redis-server with apt-get (once) ...\n')
  const [command, ...prefix] = [...sudo, 'apt-get']
  const apt = (...args) =>
    spawnSync(command, [...prefix, '-qq', '-o', 'Dpkg::Use-Pty=0', ...args], {
      stdio: ['inherit', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  const install = () => apt('install', '-y', '--no-install-recommends', 'redis-server')
  if (install().status === 0) return
  apt('update')
  if (install().status !== 0)
    fail('apt-get could not install redis-server; install it and start again')
}

function onPath(program) {
  const folders = `${process.env.PATH ?? ''}${delimiter}/usr/local/sbin${delimiter}/usr/sbin`.split(
    delimiter,
  )
  return folders.some((folder) => folder !== '' && existsSync(join(folder, program)))
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
