import { randomBytes } from 'node:crypto'
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAbandoned, ownerOf } from '../run/process-tree.ts'

const NAME = 'astra-test-'
/** The kernel may still be counting out the last process. */
const REMOVE_TRIES = 50

/** A control group that holds a test run's memory to a limit. */
export type MemoryCgroup = {
  path: string
  /** Whether the kernel had to end a process to hold the limit. */
  wasExceeded(): Promise<boolean>
  remove(): Promise<void>
}

/** The names of one version's files. */
type Version = { limit: string; swap: string; swapIs: (bytes: number) => number; events: string }

const V1: Version = {
  limit: 'memory.limit_in_bytes',
  swap: 'memory.memsw.limit_in_bytes',
  swapIs: (bytes) => bytes,
  events: 'memory.oom_control',
}
const V2: Version = {
  limit: 'memory.max',
  swap: 'memory.swap.max',
  swapIs: () => 0,
  events: 'memory.events',
}

/** Makes a group, or says null where this machine does not let us. */
export async function openMemoryCgroup(home: string, bytes: number): Promise<MemoryCgroup | null> {
  for (const { parent, version } of await parents()) {
    const owner = ownerOf(home, process.pid)
    const path = join(parent, `${NAME}${owner}-${randomBytes(8).toString('hex')}`)
    try {
      await mkdir(path)
      await writeFile(join(path, version.limit), `${bytes}`)
      // Absent where the kernel does not count swap.
      await writeFile(join(path, version.swap), `${version.swapIs(bytes)}`).catch(() => {})
      return { path, wasExceeded: () => hadOom(path, version), remove: () => remove(path) }
    } catch {
      await rmdir(path).catch(() => {})
    }
  }
  return null
}

/** Removes the groups of test-runners of this installation that were killed. */
export async function removeAbandonedCgroups(home: string): Promise<void> {
  for (const { parent } of await parents()) {
    for (const name of await readdir(parent).catch(() => [])) {
      const abandoned = name.startsWith(NAME) && isAbandoned(name.slice(NAME.length), home)
      if (abandoned) await rmdir(join(parent, name)).catch(() => {})
    }
  }
}

/** Groups that may have children with a limit: in version 2 only one without processes of its own. */
async function parents(): Promise<{ parent: string; version: Version }[]> {
  const own = /^\d+:memory:(.+)$/m.exec(await textOf('/proc/self/cgroup'))?.[1]
  const found = []
  if (own) found.push({ parent: join('/sys/fs/cgroup/memory', own), version: V1 })
  found.push({ parent: '/sys/fs/cgroup/memory', version: V1 })
  const controllers = await textOf('/sys/fs/cgroup/cgroup.subtree_control')
  if (/\bmemory\b/.test(controllers)) found.push({ parent: '/sys/fs/cgroup', version: V2 })
  const present = await Promise.all(
    found.map(({ parent, version }) =>
      access(join(parent, version === V1 ? V1.limit : 'cgroup.procs')).then(
        () => true,
        () => false,
      ),
    ),
  )
  return found.filter((_, index) => present[index])
}

async function hadOom(path: string, { events }: Version): Promise<boolean> {
  const kills = /^oom_kill (\d+)$/m.exec(await textOf(join(path, events)))?.[1]
  return Number(kills ?? 0) > 0
}

async function remove(path: string): Promise<void> {
  for (let tries = 0; tries < REMOVE_TRIES; tries += 1) {
    const done = await rmdir(path).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    )
    if (done) return
    await sleep(20)
  }
}

const textOf = (path: string) => readFile(path, 'utf8').catch(() => '')
