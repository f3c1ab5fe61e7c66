import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../shared/config.ts'
import { type PlacedManifest, standsAt } from '../../../shared/workspace.ts'
import { killGroup } from '../run/process-tree.ts'
import { runCommand } from '../run/run-command.ts'
import { bwrapCommand } from './bwrap-command.ts'
import { callFilter } from './call-filter.ts'
import { dependencyRoot, insideRoot } from './folders.ts'
import { openMemoryCgroup } from './memory-cgroup.ts'
import { memoryExceeded } from './memory-watch.ts'
import { reportersMount } from './reporters-mount.ts'
import type { Layout, Mount, RunFolder, Sandbox, SandboxedCommand } from './sandbox.ts'
import { makeStage } from './stage.ts'
import { etcMounts } from './system-mounts.ts'
import { createUids } from './uids.ts'

export type SandboxConfig = Pick<
  Config,
  'home' | 'ASTRA_TEST_MEMORY_MB' | 'ASTRA_TEST_DISK_MB' | 'ASTRA_TEST_PROCESSES'
>

const MEGABYTE = 1_000_000
/** A file of a tmpfs takes whole pages. */
const PAGE_BYTES = 4096
/** All that the first process of a sandbox gets of our environment. */
const OUTER_ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

const COPY = `${insideRoot}/copy`

/**
 * Tests run in namespaces of their own, made by bubblewrap: no network, no other process, nothing of
 * this machine but system folders, the toolchain and the copy, at the workspace's own path. Started
 * as root they get another uid, one for each test run at a time.
 */
export function bubblewrap(config: SandboxConfig, problem: () => Promise<string | null>): Sandbox {
  const uids = createUids()
  return {
    isSandbox: true,
    problem,
    layout: ({ manifest }) => layoutOf(manifest),
    async run(command) {
      // What is written to a cache is written by one uid, whichever test run does it.
      const cache = command.mounts.find((mount) => mount.writable)
      const uid = cache ? uids.forCaches() : await uids.take()
      const cgroup = uid === null ? null : await openMemoryCgroup(config.home, memoryBytes(config))
      try {
        const result = await runCommand({
          argv: bwrapCommand({
            ...(await profileOf(command, config, uid)),
            uid,
            cgroup: cgroup?.path ?? null,
          }),
          cwd: '/',
          env: OUTER_ENV,
          timeoutMs: command.timeoutMs,
          maxOutputBytes: command.maxOutputBytes,
          signal: command.signal,
          stop: killGroup,
          overMemory: (pid, signal) =>
            memoryExceeded(pid, memoryBytes(config), inMemory(command.layout), signal),
        })
        return (await cgroup?.wasExceeded()) ? { ...result, end: 'memory_limit' } : result
      } finally {
        // The kernel may take a while to count out the last process; nothing waits for that.
        void cgroup?.remove()
        if (uid !== null) uids.giveBack(uid)
      }
    },
  }
}

function layoutOf(manifest: PlacedManifest): Layout {
  const { workspace } = manifest
  return {
    workspace,
    home: '/tmp/home',
    temporary: '/tmp',
    reportFile: `${insideRoot}/astra-test-report`,
    reporters: `${insideRoot}/reporters`,
    goCache: `${insideRoot}/go-cache`,
    dependencies: (index) => {
      const link = manifest.links[index]
      if (!link) return null
      if (link.target.endsWith('/node_modules')) return dependencyFolder(index)
      return link.target === join(workspace, link.path) ? null : link.target
    },
  }
}

/** `node_modules` is a folder of links in the copy: what they lead to has to be elsewhere. */
const dependencyFolder = (index: number) => `${dependencyRoot}/${index}/node_modules`

/** File systems that tests can write to. */
const inMemory = ({ workspace, temporary }: Layout) => [workspace, temporary, '/dev/shm']

const memoryBytes = (config: SandboxConfig) => config.ASTRA_TEST_MEMORY_MB * MEGABYTE

async function profileOf(command: SandboxedCommand, config: SandboxConfig, uid: number | null) {
  const { folder, manifest, layout, argv, env } = command
  const disk = config.ASTRA_TEST_DISK_MB * MEGABYTE
  const copyBytes = folder.copyBytes + manifest.files.length * PAGE_BYTES
  const copy = { source: folder.copy, target: COPY }
  const mounts = [
    await reportersMount(folder.root, layout.reporters),
    { source: folder.reportFile, target: layout.reportFile, writable: true },
    ...(await etcMounts(folder.root, uid ?? process.getuid?.() ?? 0)),
    ...dependencyMounts(manifest),
    ...command.mounts,
  ]
  return {
    argv,
    env,
    workspace: layout.workspace,
    copy,
    mounts,
    size: { workspace: disk + copyBytes, temporary: disk, file: disk + copyBytes },
    processes: config.ASTRA_TEST_PROCESSES,
    stage: uid === null ? null : await stageFor(uid, folder, [copy, ...mounts]),
    callFilter: await filterFile(folder.root),
  }
}

/** Readies what another uid has to reach, and to write. */
async function stageFor(uid: number, folder: RunFolder, mounts: readonly Mount[]) {
  for (const { source, writable } of mounts) if (writable) await chown(source, uid, uid)
  return makeStage(
    folder.root,
    mounts.map((mount) => mount.source),
  )
}

async function filterFile(root: string): Promise<string> {
  const path = join(root, 'call-filter')
  await writeFile(path, callFilter())
  return path
}

/** A virtual environment stays where it is; a link of the copy leads to one outside the workspace. */
function dependencyMounts(manifest: PlacedManifest): Mount[] {
  return manifest.links.map(({ target }, index) => {
    const isModules = target.endsWith('/node_modules')
    const source = standsAt(manifest, index) ?? target
    return { source, target: isModules ? dependencyFolder(index) : target }
  })
}
