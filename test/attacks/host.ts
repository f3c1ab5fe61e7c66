import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Processes of this machine that have a mark in their command line. */
export async function processesOf(mark: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return line.includes(mark) && pid !== process.pid
    }),
  )
  return pids.filter((_, index) => found[index])
}

/** An attack that succeeded may have left some. */
export async function endProcessesOf(mark: string): Promise<void> {
  for (const pid of await processesOf(mark)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
}

/** Files directly below folders of this machine that have a mark in their name. */
export async function filesOf(mark: string, folders: readonly string[]): Promise<string[]> {
  const found = folders.map(async (folder) => {
    const names = await readdir(folder).catch(() => [])
    return names.filter((name) => name.includes(mark)).map((name) => join(folder, name))
  })
  return (await Promise.all(found)).flat()
}
