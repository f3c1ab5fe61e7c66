import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * What npm does not have: redis-server, unless REDIS_URL names a server, and on Linux bubblewrap,
 * which makes the sandbox of tests. On Debian and its relatives apt brings them; elsewhere the person
 * is told what to install.
 */
export function ensureSystemPackages() {
  const missing = missingPackages()
  if (missing.length === 0) return
  const names = missing.join(' and ')
  if (process.platform !== 'linux' || !onPath('apt-get')) {
    fail(
      `not found: ${names}.\n` +
        '  macOS:   brew install redis\n' +
        '  Fedora:  sudo dnf install redis (or valkey) bubblewrap\n' +
        '  Redis can also be elsewhere: set REDIS_URL to a Redis 7 or Valkey server with\n' +
        '  maxmemory-policy noeviction',
    )
  }
  if (!mayInstall()) fail(`not found: ${names}. As root: apt-get install ${missing.join(' ')}`)
  if (!aptInstall(missing)) fail(`apt-get could not install ${names}; install and start again`)
}

/** By package: is there what single tests need, and the product does not? */
const FOR_TESTS = {
  apparmor: () => onPath('apparmor_parser'),
  chromium: () => onPath('chromium'),
  fish: () => onPath('fish'),
  iproute2: () => onPath('ip'),
  'python3-seccomp': () => hasDebianModule('seccomp'),
  zsh: () => onPath('zsh'),
}

/** Installs what single tests need: without it they are skipped, and say so. */
export function ensureTestPrograms() {
  const missing = Object.keys(FOR_TESTS).filter((name) => !FOR_TESTS[name]())
  if (missing.length === 0 || process.platform !== 'linux' || !onPath('apt-get')) return
  if (mayInstall()) aptInstall(missing)
}

function hasDebianModule(name) {
  const folder = '/usr/lib/python3/dist-packages'
  return existsSync(folder) && readdirSync(folder).some((file) => file.startsWith(`${name}.`))
}

// Only a terminal can be asked for a password.
function sudo() {
  return process.getuid() === 0 ? [] : process.stdin.isTTY ? ['sudo'] : ['sudo', '-n']
}

function mayInstall() {
  return sudo().length === 0 || onPath('sudo')
}

/** False when apt cannot, even with a new list of what there is. */
function aptInstall(packages) {
  process.stderr.write(`Installing ${packages.join(' and ')} with apt-get (once) ...\n`)
  const [command, ...prefix] = [...sudo(), 'apt-get']
  const apt = (...args) =>
    spawnSync(command, [...prefix, '-qq', '-o', 'Dpkg::Use-Pty=0', ...args], {
      stdio: ['inherit', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  const install = () => apt('install', '-y', '--no-install-recommends', ...packages).status === 0
  if (install()) return true
  apt('update')
  return install()
}

function missingPackages() {
  const hasRedis = process.env.REDIS_URL || onPath('redis-server') || onPath('valkey-server')
  // Other systems have no such sandbox: the test-runner says so when it is asked for tests.
  const hasSandbox = process.platform !== 'linux' || onPath('bwrap')
  return [...(hasRedis ? [] : ['redis-server']), ...(hasSandbox ? [] : ['bubblewrap'])]
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
