import { readdir, readFile, statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { exists } from '../toolchains/toolchain.ts'
import { insideRoot } from './folders.ts'

const LOOK_EVERY_MS = 100
/** What the kernel keeps of a file, however empty that is. */
const BYTES_PER_FILE = 1_024

/**
 * Resolves when a sandbox, by the pid of its first process, holds more memory than `bytes`: that of
 * its processes, and of its file systems, which are all in memory. Rejects when the signal aborts.
 * Between two looks a bomb can go over the limit by what it can touch in a tenth of a second; where
 * the machine lets us, a control group holds it exactly.
 */
export async function memoryExceeded(
  pid: number,
  bytes: number,
  fileSystems: readonly string[],
  signal: AbortSignal,
): Promise<'memory_limit'> {
  while (!(await isOver(pid, bytes, fileSystems))) {
    await sleep(LOOK_EVERY_MS, undefined, { signal })
  }
  return 'memory_limit'
}

async function isOver(pid: number, bytes: number, fileSystems: readonly string[]) {
  const pids = await descendants(pid)
  const files = await usageOf(await firstInside(pids), fileSystems)
  if (total(await Promise.all(pids.map(residentMemory)), files) <= bytes) return false
  // What processes share was counted for each of them; the exact sum is dear.
  return total(await Promise.all(pids.map(proportionalMemory)), files) > bytes
}

/** Bytes. Shared memory is what is mapped without a file of a disk, files in memory among it. */
type Memory = { own: number; shared: number }
type Files = { contents: number; kept: number }

/** A file that is mapped counts once: which ones are cannot be told. */
function total(processes: readonly Memory[], files: Files): number {
  const own = processes.reduce((sum, each) => sum + each.own, 0)
  const shared = processes.reduce((sum, each) => sum + each.shared, 0)
  return own + Math.max(shared, files.contents) + files.kept
}

async function descendants(pid: number): Promise<number[]> {
  const found = [pid]
  for (const each of found) found.push(...(await childrenOf(each)))
  return found
}

async function childrenOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(tasks.map((task) => readProc(`${pid}/task/${task}/children`)))
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}

async function residentMemory(pid: number): Promise<Memory> {
  const text = await readProc(`${pid}/status`)
  return { own: sizeIn(text, 'RssAnon'), shared: sizeIn(text, 'RssShmem') }
}

/** What several processes share is parted among them. */
async function proportionalMemory(pid: number): Promise<Memory> {
  const text = await readProc(`${pid}/smaps_rollup`)
  if (text === '') return residentMemory(pid)
  return { own: sizeIn(text, 'Pss_Anon'), shared: sizeIn(text, 'Pss_Shmem') }
}

function sizeIn(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024
}

/** The first processes still see this machine, whose files are none of the tests'. */
async function firstInside(pids: readonly number[]): Promise<number | undefined> {
  for (const pid of pids) if (await exists(`/proc/${pid}/root${insideRoot}`)) return pid
  return undefined
}

/** Of file systems as a process sees them. */
async function usageOf(pid: number | undefined, fileSystems: readonly string[]): Promise<Files> {
  const usage = { contents: 0, kept: 0 }
  if (pid === undefined) return usage
  for (const path of fileSystems) {
    const found = await statfs(`/proc/${pid}/root${path}`).catch(() => null)
    if (!found) continue
    usage.contents += (found.blocks - found.bfree) * found.bsize
    usage.kept += (found.files - found.ffree) * BYTES_PER_FILE
  }
  return usage
}

/** Empty when the process is gone. */
function readProc(path: string): Promise<string> {
  return readFile(`/proc/${path}`, 'latin1').catch(() => '')
}
