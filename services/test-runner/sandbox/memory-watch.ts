import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_EVERY_MS = 100
const PAGE_BYTES = 4096

/**
 * Resolves when a process and its descendants hold more memory of their own than `bytes`. Rejects
 * when the signal aborts. Between two looks a bomb can go over the limit by what it can touch in a
 * tenth of a second; where the machine lets us, a control group holds it exactly.
 */
export async function memoryExceeded(
  pid: number,
  bytes: number,
  signal: AbortSignal,
): Promise<'memory_limit'> {
  while ((await memoryOf(pid)) <= bytes) await sleep(LOOK_EVERY_MS, undefined, { signal })
  return 'memory_limit'
}

/** Bytes. What forked processes still share is counted for each of them. */
async function memoryOf(pid: number): Promise<number> {
  const own = await anonymousPages(pid)
  const children = await childrenOf(pid)
  const below = await Promise.all(children.map(memoryOf))
  return below.reduce((sum, each) => sum + each, own * PAGE_BYTES)
}

async function anonymousPages(pid: number): Promise<number> {
  const fields = (await readProc(`${pid}/statm`)).split(' ').map(Number)
  return Math.max(0, (fields[1] ?? 0) - (fields[2] ?? 0))
}

async function childrenOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(tasks.map((task) => readProc(`${pid}/task/${task}/children`)))
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}

/** Empty when the process is gone. */
function readProc(path: string): Promise<string> {
  return readFile(`/proc/${path}`, 'latin1').catch(() => '')
}
