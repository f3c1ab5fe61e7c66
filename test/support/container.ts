import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { ComposeService } from './compose.ts'
import { CONTAINER_PATH, rootOf } from './container-root.ts'
import { image } from './image.ts'

/**
 * What stands in for a container engine, which cannot run everywhere: a service of the compose file is
 * started by its very command, with its environment, as its user and without any capability, on a root
 * of its own. Only root can make such containers: bubblewrap's own are user namespaces, Docker's are not.
 */
export type Container = {
  child: ChildProcess
  /** All that it said. */
  output(): string
  /** Runs a command inside, as a health check is run. */
  exec(argv: readonly string[]): { code: number | null; output: string }
  /** Sends the service's own process a signal. */
  signal(signal: NodeJS.Signals): void
  /** Its exit code, however it came to its end. */
  ended: Promise<number | null>
}

export type ContainerOptions = {
  name: string
  /** Where its volumes and secrets are. */
  folder: string
  /** A process whose network it shares. */
  network: number
  /** A file with its filter of system calls, as the kernel takes it. */
  seccomp?: string
  /** More mounts, as arguments of bubblewrap. */
  mounts?: readonly string[]
}

export async function startContainer(
  service: ComposeService,
  options: ContainerOptions,
): Promise<Container> {
  const [program = '', ...args] = [
    ...['nsenter', `--net=/proc/${options.network}/ns/net`],
    ...['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', INSIDE, 'sh'],
    ...[options.seccomp ?? '/dev/null', 'bwrap', '--cap-add', 'ALL', '--die-with-parent'],
    ...['--unshare-ipc', '--unshare-uts', '--hostname', options.name, '--clearenv'],
    ...Object.entries(environmentOf(service)).flatMap((pair) => ['--setenv', ...pair]),
    ...(await rootOf(options.folder, service, options.name)),
    ...(options.mounts ?? []),
    ...(service.read_only ? ['--remount-ro', '/'] : []),
    ...['--chdir', service.build ? '/app' : '/'],
    ...(options.seccomp === undefined ? [] : ['--seccomp', '3']),
    ...['--', ...asUser(service), ...(service.entrypoint ?? []), ...service.command],
  ]
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: OUTER_ENV })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  return {
    child,
    output: () => output,
    ended: once(child, 'close').then(([code]) => code as number | null),
    signal: (signal) => process.kill(leafOf(child), signal),
    exec(argv) {
      if (child.exitCode !== null) return { code: null, output: `it has ended: ${output}` }
      const inside = ['--mount', '--pid', '--net', '--uts', '--ipc', '--wd', '--']
      const pairs = Object.entries(environmentOf(service)).map((pair) => pair.join('='))
      const { status, stdout, stderr } = spawnSync(
        'nsenter',
        [
          ...['-t', `${leafOf(child)}`, ...inside, 'env', '-i', ...pairs],
          ...[...asUser(service), ...argv],
        ],
        { encoding: 'utf8', timeout: 30_000, env: OUTER_ENV },
      )
      return { code: status, output: `${stdout}${stderr}` }
    },
  }
}

const OUTER_ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

/** Whether containers can be made here: by root of a Linux with bubblewrap, util-linux and iproute2. */
export const canMakeContainers =
  process.getuid?.() === 0 &&
  ['bwrap', 'ip', 'nsenter', 'setpriv', 'unshare'].every((program) =>
    OUTER_ENV.PATH.split(':').some((folder) => existsSync(`${folder}/${program}`)),
  )

/** A /proc of the new namespace, which nothing covers; then the filter of system calls as file 3. */
const INSIDE = 'mount -t proc proc /proc && exec 3< "$1" && shift && exec "$@"'

/** Docker's `user`, `cap_drop: [ALL]` and `no-new-privileges`. */
function asUser({ user = '0:0' }: ComposeService): string[] {
  const [uid = '0', gid = '0'] = user.split(':')
  const none = ['--clear-groups', '--inh-caps=-all', '--bounding-set=-all', '--no-new-privs']
  return ['setpriv', '--reuid', uid, '--regid', gid, ...none, '--']
}

function environmentOf(service: ComposeService): Record<string, string> {
  const ofImage = service.build ? image.environment : {}
  return { PATH: CONTAINER_PATH, ...ofImage, ...service.environment }
}

export type Network = { pid: number; stop(): Promise<unknown> }

/** A network with nothing but its own loopback. */
export async function startNetwork(): Promise<Network> {
  const hold = 'ip link set lo up && echo up && exec cat'
  const child = spawn('unshare', ['--net', 'sh', '-c', hold], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const ended = once(child, 'close')
  return {
    pid: child.pid ?? 0,
    stop() {
      child.kill()
      return ended
    },
  }
}

/** The last of a chain of processes of which each started the next: the service's own. */
function leafOf(child: ChildProcess, pid = child.pid ?? 0): number {
  const [next] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
  return next ? leafOf(child, Number(next)) : pid
}
