import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { productRoot } from '../../shared/config.ts'
import { type NetworkRedis, startNetworkRedis } from './network-redis.ts'
import { type ServiceProcess, startService } from './service-process.ts'

/** Why this machine cannot be made to look like several, or null. */
export function noMachines(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux'
  const name = `astra-try-${process.pid}`
  const made = spawnSync('ip', ['netns', 'add', name]).status === 0
  const works =
    made &&
    spawnSync('ip', [
      'netns',
      'exec',
      name,
      'unshare',
      '--mount',
      'mount',
      '-t',
      'tmpfs',
      'x',
      '/mnt',
    ]).status === 0
  if (made) spawnSync('ip', ['netns', 'del', name])
  return works ? null : 'ip, unshare and the right to make namespaces'
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
  redis: NetworkRedis
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

/** Machines on one network, with a Redis on the first of them. The names of interfaces are short. */
export async function startMachines(names: readonly string[]): Promise<Machines> {
  removeAbandoned()
  const root = await realpath(await mkdtemp(join(tmpdir(), 'astra-machines-')))
  const hold = await realpath(await mkdtemp(join(tmpdir(), 'astra-hold-')))
  const tag = `${process.pid}`
  const space = (name: string) => `astra-${tag}-${name}`
  const net = `10.${77 + (process.pid % 100)}.${(process.pid >> 7) % 250}`
  const hub = space('hub')
  const services = new Map<string, ServiceProcess[]>()
  let redis: NetworkRedis | undefined

  const inSpace = (name: string) => ['ip', 'netns', 'exec', space(name)]
  async function remove(): Promise<void> {
    for (const started of services.values()) for (const each of started) await endNow(each)
    await redis?.stop()
    for (const name of [hub, ...names.map(space)]) spawnSync('ip', ['netns', 'del', name])
    await rm(root, { recursive: true, force: true })
    await rm(hold, { recursive: true, force: true })
  }

  function machineOf(name: string, index: number): Machine {
    const folder = join(root, name)
    const home = join(folder, 'home')
    const address = `${net}.${index + 1}`
    const alone = [...inSpace(name), 'unshare', '--mount', '--propagation', 'private']
    const through = [...alone, 'sh', '-c', ALONE, 'sh', root, name, hold]
    const settings = (env: Record<string, string>) => ({ REDIS_URL: redis?.url ?? '', ...env })
    const started: ServiceProcess[] = []
    services.set(name, started)
    return {
      name,
      address,
      folder,
      home,
      async start(service, env = {}) {
        const running = await startService(service, home, settings(env), through)
        started.push(running)
        return running
      },
      sees(path) {
        const [command = '', ...args] = [...through, 'test', '-e', path]
        return spawnSync(command, args).status === 0
      },
      astra(args, env = {}) {
        const cli = [process.execPath, join(productRoot, 'services/cli/main.ts'), ...args]
        return run([...through, ...cli], {
          PATH: process.env.PATH,
          HOME: home,
          ASTRA_HOME: home,
          NO_COLOR: '1',
          ...settings(env),
        })
      },
      async die() {
        await Promise.all(started.splice(0).map(endNow))
      },
      async vanish() {
        await this.die()
        must('ip', 'netns', 'del', space(name))
        await rm(folder, { recursive: true })
      },
    }
  }

  try {
    must('ip', 'netns', 'add', hub)
    must('ip', '-n', hub, 'link', 'add', 'br0', 'type', 'bridge')
    must('ip', '-n', hub, 'link', 'set', 'br0', 'up')
    for (const [index, name] of names.entries()) {
      const [outer, inner] = [`o${tag}${index}`, `i${tag}${index}`]
      must('ip', 'netns', 'add', space(name))
      must(
        'ip',
        'link',
        'add',
        outer,
        'netns',
        hub,
        'type',
        'veth',
        'peer',
        'name',
        inner,
        'netns',
        space(name),
      )
      must('ip', '-n', hub, 'link', 'set', outer, 'master', 'br0')
      must('ip', '-n', hub, 'link', 'set', outer, 'up')
      must('ip', '-n', space(name), 'addr', 'add', `${net}.${index + 1}/24`, 'dev', inner)
      must('ip', '-n', space(name), 'link', 'set', inner, 'up')
      must('ip', '-n', space(name), 'link', 'set', 'lo', 'up')
      await mkdir(join(root, name, 'home'), { recursive: true, mode: 0o700 })
    }
    const machines = names.map(machineOf)
    const [first] = machines
    if (!first) throw new Error('no machine')
    redis = await startNetworkRedis({
      host: first.address,
      port: 6379,
      through: inSpace(first.name),
    })
    return {
      redis,
      of(name) {
        const found = machines.find((machine) => machine.name === name)
        if (!found) throw new Error(`no machine ${name}`)
        return found
      },
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Those of test processes that were killed. */
function removeAbandoned(): void {
  const { stdout } = spawnSync('ip', ['netns', 'list'], { encoding: 'utf8' })
  for (const [, name = '', pid = ''] of stdout.matchAll(/^(astra-(\d+)-\w+)/gm)) {
    if (!existsSync(`/proc/${pid}`)) spawnSync('ip', ['netns', 'del', name])
  }
}

function must(command: string, ...args: string[]): void {
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
