import { readdir, readFile, statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { exists } from '../toolchains/toolchain.ts'
import { insideRoot } from './folders.ts'

const LOOK_EVERY_MS = 100
/** What the kernel keeps of a file, however empty that is. */
const BYTES_PER_FILE = 1_024

/**
 * Resolves when a sandbox, by the pid of its first process, holds more memory than `bytes`: that of
 * its processes, and what the kernel keeps of files in its file systems, which are all in memory
 * (their contents have limits of their own). Rejects when the signal aborts. Between two looks a
 * bomb can go over the limit by what it can touch in a tenth of a second; where the machine lets
 * us, a control group holds it exactly.
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
  const files = (await fileCount(await firstInside(pids), fileSystems)) * BYTES_PER_FILE
  const most = await sumOf(pids, residentBytes)
  if (most + files <= bytes) return false
  // What processes share was counted for each of them; the exact sum is dear.
  return (await sumOf(pids, proportionalBytes)) + files > bytes
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

async function sumOf(pids: readonly number[], bytesOf: (pid: number) => Promise<number>) {
  const each = await Promise.all(pids.map(bytesOf))
  return each.reduce((sum, bytes) => sum + bytes, 0)
}

/** Of its own and shared, without what files on a disk are mapped to. */
async function residentBytes(pid: number): Promise<number> {
  return sizeIn(await readProc(`${pid}/status`), /^Rss(?:Anon|Shmem):\s*(\d+) kB$/gm)
}

/** What several processes share is parted among them. */
async function proportionalBytes(pid: number): Promise<number> {
  const text = await readProc(`${pid}/smaps_rollup`)
  return text ? sizeIn(text, /^Pss_(?:Anon|Shmem):\s*(\d+) kB$/gm) : residentBytes(pid)
}

function sizeIn(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((sum, [, size]) => sum + Number(size) * 1024, 0)
}

/** The first processes still see this machine, whose files are none of the tests'. */
async function firstInside(pids: readonly number[]): Promise<number | undefined> {
  for (const pid of pids) if (await exists(`/proc/${pid}/root${insideRoot}`)) return pid
  return undefined
}

/** Of file systems as a process sees them. */
async function fileCount(pid: number | undefined, fileSystems: readonly string[]) {
  const counts = fileSystems.map(async (path) => {
    const found = await statfs(`/proc/${pid}/root${path}`).catch(() => null)
    return found ? found.files - found.ffree : 0
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

/** Empty when the process is gone. */
function readProc(path: string): Promise<string> {
  return readFile(`/proc/${path}`, 'latin1').catch(() => '')
}
