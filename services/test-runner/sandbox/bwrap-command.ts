import type { Env } from '../toolchains/toolchain.ts'
import type { Mount } from './sandbox.ts'
import { STAGED_AT, type Stage, stagedAt } from './stage.ts'
import { systemMounts } from './system-mounts.ts'

export type BwrapRequest = {
  argv: readonly [string, ...string[]]
  env: Env
  /** Where the copy is seen: a file system of its own, filled from `copy` before the command. */
  workspace: string
  copy: Mount
  mounts: readonly Mount[]
  /** Bytes. */
  size: { workspace: number; temporary: number; file: number }
  /** The most processes and threads at once. */
  processes: number
  /** Given up for another, when started as root. */
  uid: number | null
  cgroup: string | null
  /** A file with the filter of system calls. */
  callFilter: string
  /** Of the copy and the mounts; null where there is no other uid. */
  stage: Stage | null
}

const OPEN_FILES = 4096
const SHARED_MEMORY_BYTES = 256_000_000
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin'

/**
 * Runs inside, before the command: as it is part of a test run, it costs the tests' own limits. The
 * tests' environment comes last: a PATH of theirs must not choose the programs that limit them.
 */
const FILL = `
cp -a "$1/." . || exit 125
limit=$2
shift 2
exec prlimit --nproc="$limit" -- env -i "$@"`

/** What a command that could not be started says begins so. */
export const STARTER = 'astra-tests'
/** A program with a = in its path would be one more variable to env. */
const COMMAND = ['/bin/sh', '-c', 'exec "$@"', STARTER]

/**
 * Runs as root in a mount namespace of its own: puts what the tests may see where another uid can
 * reach it, wherever it lies, then gives up root for good. Nothing of it is seen outside.
 */
const STAGE = `
set -e
cgroup=$1
root=$2
owner=$3
copy=$4
shift 4
if [ -n "$cgroup" ]; then echo $$ > "$cgroup/cgroup.procs"; fi
chown -hR "$owner" "$copy"
while [ "$1" != -- ]; do
  mount --bind "$1" "$2"
  shift 2
done
shift
mount --rbind "$root" ${STAGED_AT}
exec "$@"`

/** The whole command line of a sandboxed command; its environment holds nothing but a PATH. */
export function bwrapCommand(request: BwrapRequest): [string, ...string[]] {
  const { uid, stage, cgroup } = request
  const start: [string, ...string[]] = [...DIES_WITH_PARENT, ...OPEN_FILTER, request.callFilter]
  if (uid === null || stage === null) return [...start, ...limited(request, request)]
  const seen = (mount: Mount) => ({ ...mount, source: stagedAt(stage, mount.source) })
  const shown = { copy: seen(request.copy), mounts: request.mounts.map(seen) }
  const owner = `${uid}:${uid}`
  const script = ['sh', '-c', STAGE, 'sh', cgroup ?? '', stage.root, owner, request.copy.source]
  const points = stage.outside.flatMap(({ source, point }) => [source, point])
  const drop = ['setpriv', '--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups']
  return [
    ...start,
    ...['unshare', '--mount', '--propagation', 'private', '--'],
    ...[...script, ...points, '--', ...drop, '--', ...limited(request, shown)],
  ]
}

/** Until bwrap says the same of itself. */
const DIES_WITH_PARENT: [string, ...string[]] = ['setpriv', '--pdeathsig', 'KILL', '--']

/** bwrap takes the filter of system calls as an open file; another uid could not open it. */
const FILTER_FD = '3'
const OPEN_FILTER = ['sh', '-c', `exec ${FILTER_FD}< "$1" && shift && exec "$@"`, 'sh']

type Shown = { copy: Mount; mounts: readonly Mount[] }

function limited(request: BwrapRequest, shown: Shown): string[] {
  const { size } = request
  const limits = [`--fsize=${size.file}`, `--nofile=${OPEN_FILES}`, '--core=0']
  return ['prlimit', ...limits, '--', 'bwrap', ...profile(request, shown)]
}

function profile(request: BwrapRequest, { copy, mounts }: Shown): string[] {
  const { workspace, size, env, argv, processes } = request
  const sharedMemory = Math.min(SHARED_MEMORY_BYTES, size.temporary)
  const folders: Place[] = [
    { target: '/tmp', args: ['--perms', '1777', '--size', `${size.temporary}`, '--tmpfs', '/tmp'] },
    {
      target: '/dev/shm',
      args: ['--perms', '1777', '--size', `${sharedMemory}`, '--tmpfs', '/dev/shm'],
    },
    { target: workspace, args: ['--size', `${size.workspace}`, '--tmpfs', workspace] },
    ...[copy, ...mounts].map(({ source, target, writable }) => ({
      target,
      args: [writable ? '--bind' : '--ro-bind', source, target],
    })),
  ]
  return [
    ...['--unshare-user', '--unshare-all', '--disable-userns', '--cap-drop', 'ALL'],
    ...['--die-with-parent', '--new-session', '--hostname', 'sandbox', '--clearenv'],
    ...['--seccomp', FILTER_FD, '--setenv', 'PATH', SYSTEM_PATH],
    ...systemMounts(),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...inOrder(folders).flatMap((place) => place.args),
    ...['--dir', env.HOME ?? '/tmp'],
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', workspace, '--'],
    ...['sh', '-c', FILL, 'sh', copy.target, `${processes}`],
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...COMMAND,
    ...argv,
  ]
}

type Place = { target: string; args: string[] }

/** A folder before what is mounted in it. */
function inOrder(places: readonly Place[]): Place[] {
  const depth = ({ target }: Place) => target.split('/').length
  return [...places].sort((a, b) => depth(a) - depth(b))
}
