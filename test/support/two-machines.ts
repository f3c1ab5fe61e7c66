import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { productRoot } from '../../shared/config.ts'
import { startNetworkRedis } from './network-redis.ts'
import { type ServiceProcess, startService } from './service-process.ts'

/** Why this machine cannot be made to look like several, or null. */
export function noMachines(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux'
  const name = `astra-${process.pid}-try`
  const tmpfs = ['unshare', '--mount', 'mount', '-t', 'tmpfs', 'x', '/mnt']
  try {
    ip([`netns add ${name}`])
    ip(['link add br0 type bridge', 'link add o type veth peer name i'], name)
    must('ip', ['netns', 'exec', name, ...tmpfs])
    return null
  } catch {
    return 'ip, unshare, and the right to make namespaces and bridges'
  } finally {
    spawnSync('ip', ['netns', 'del', name])
  }
}

export type Ran = { code: number | null; stdout: string; stderr: string }

/** Something with an address of its own, whose processes see no data but its own. */
export type Machine = {
  name: string
  address: string
  /** What only this machine has: ASTRA_HOME is `home` in it. */
  folder: string
  home: string
  start(service: string, env?: Record<string, string>): Promise<ServiceProcess>
  /** Whether there is such a file or folder for its processes. */
  sees(path: string): boolean
  astra(args: string[], env?: Record<string, string>): Promise<Ran>
  /** Ends all services of the machine at once, as a loss of power does. */
  die(): Promise<void>
  /** The machine dies, and its address and its disk are gone for good. */
  vanish(): Promise<void>
}

export type Machines = {
  /** Of a name that was asked for. */
  of(name: string): Machine
  remove(): Promise<void>
}

/**
 * Shows a process one machine's folder and none of the others': the folder that holds all of them is
 * covered, in a mount namespace that ends with the process.
 */
const ALONE = `
set -e
mount --bind "$1/$2" "$3"
mount -t tmpfs none "$1"
mkdir "$1/$2"
mount --move "$3" "$1/$2"
shift 3
exec "$@"`

/** A network of namespaces; their names tell whose they are, those of interfaces have to be short. */
type Network = {
  /** The start of a command line that is run in a machine's namespace. */
  inside(name: string): string[]
  address(name: string): string
  leave(name: string): void
  remove(): void
}

function makeNetwork(names: readonly string[]): Network {
  const { pid } = process
  const space = (name: string) => `astra-${pid}-${name}`
  const address = (name: string) =>
    `10.${77 + (pid % 100)}.${(pid >> 7) % 250}.${names.indexOf(name) + 1}`
  const leave = (name: string) => void spawnSync('ip', ['netns', 'del', space(name)])
  const network: Network = {
    inside: (name) => ['ip', 'netns', 'exec', space(name)],
    address,
    leave,
    remove: () => ['hub', ...names].forEach(leave),
  }
  try {
    ip([`netns add ${space('hub')}`, ...names.map((name) => `netns add ${space(name)}`)])
    ip(['link add br0 type bridge', 'link set br0 up'], space('hub'))
    for (const [index, name] of names.entries()) {
      const [outer, inner] = [`o${pid}${index}`, `i${pid}${index}`]
      const pair = `type veth peer name ${inner} netns ${space(name)}`
      ip([`link add ${outer} ${pair}`, `link set ${outer} master br0 up`], space('hub'))
      const own = [`addr add ${address(name)}/24 dev ${inner}`, `link set ${inner} up`]
      ip([...own, 'link set lo up'], space(name))
    }
    return network
  } catch (error) {
    network.remove()
    throw error
  }
}

/** Machines on one network, with a Redis on the first of them. */
export async function startMachines(names: readonly string[]): Promise<Machines> {
  removeAbandoned()
  const network = makeNetwork(names)
  const [first = ''] = names
  const place = { host: network.address(first), port: 6379, through: network.inside(first) }
  const redis = await startNetworkRedis(place).catch((error) => {
    network.remove()
    throw error
  })
  const root = await realpath(await mkdtemp(join(tmpdir(), 'astra-machines-')))
  const hold = await realpath(await mkdtemp(join(tmpdir(), 'astra-hold-')))
  const machines = names.map((name) => machineOf(name, { network, root, hold, url: redis.url }))
  for (const { home } of machines) await mkdir(home, { recursive: true, mode: 0o700 })
  return {
    of(name) {
      const found = machines.find((machine) => machine.name === name)
      if (!found) throw new Error(`no machine ${name}`)
      return found
    },
    async remove() {
      for (const machine of machines) await machine.die()
      await redis.stop()
      network.remove()
      await rm(root, { recursive: true, force: true })
      await rm(hold, { recursive: true, force: true })
    },
  }
}

/** `root` has a folder of each machine; `hold` is where one is kept while all are covered. */
type World = { network: Network; root: string; hold: string; url: string }

function machineOf(name: string, { network, root, hold, url }: World): Machine {
  const folder = join(root, name)
  const home = join(folder, 'home')
  const alone = [...network.inside(name), 'unshare', '--mount', '--propagation', 'private']
  const through = [...alone, 'sh', '-c', ALONE, 'sh', root, name, hold]
  const started: ServiceProcess[] = []
  return {
    name,
    address: network.address(name),
    folder,
    home,
    async start(service, env = {}) {
      const running = await startService(service, home, { REDIS_URL: url, ...env }, through)
      started.push(running)
      return running
    },
    sees(path) {
      const [command = '', ...args] = [...through, 'test', '-e', path]
      return spawnSync(command, args).status === 0
    },
    astra(args, env = {}) {
      const cli = [process.execPath, join(productRoot, 'services/cli/main.ts'), ...args]
      const own = { PATH: process.env.PATH, HOME: home, ASTRA_HOME: home, NO_COLOR: '1' }
      return run([...through, ...cli], { ...own, REDIS_URL: url, ...env })
    },
    async die() {
      await Promise.all(started.splice(0).map(endNow))
    },
    async vanish() {
      await this.die()
      network.leave(name)
      await rm(folder, { recursive: true })
    },
  }
}

/** Those of test processes that were killed. */
function removeAbandoned(): void {
  const { stdout } = spawnSync('ip', ['netns', 'list'], { encoding: 'utf8' })
  for (const [, name = '', pid = ''] of stdout.matchAll(/^(astra-(\d+)-\w+)/gm)) {
    if (!existsSync(`/proc/${pid}`)) spawnSync('ip', ['netns', 'del', name])
  }
}

/** Commands of `ip`, in a namespace where one is named. */
function ip(commands: readonly string[], space?: string): void {
  const inSpace = space === undefined ? [] : ['-n', space]
  for (const command of commands) must('ip', [...inSpace, ...command.split(' ')])
}

function must(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
}

async function endNow(service: ServiceProcess): Promise<void> {
  const { exitCode, signalCode } = service.child
  if (exitCode === null && signalCode === null) await service.end('SIGKILL')
}

function run([command = '', ...args]: string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ran: Ran = { code: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    ran.stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    ran.stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ ...ran, code }))
  })
}
