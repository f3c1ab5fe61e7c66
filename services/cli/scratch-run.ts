import { randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { runFiles } from '../../shared/run-files.ts'

const PREFIX = 'verify-'
const ID = /^verify-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Far longer than a verification can take: what is older was left by a command that was killed. */
const ABANDONED_MS = 24 * 3600 * 1000

export const isScratchId = (runId: string) => ID.test(runId)

/**
 * Calls `use` with the id of a run folder for one verification, and removes the folder however that
 * ends. There is no run of that id: nothing lists it.
 */
export async function withScratchRun<T>(home: string, use: (id: string) => Promise<T>): Promise<T> {
  await removeAbandoned(home)
  const id = `${PREFIX}${randomUUID()}`
  try {
    return await use(id)
  } finally {
    await rm(runFiles(home, id).dir, { recursive: true, force: true })
  }
}

async function removeAbandoned(home: string): Promise<void> {
  for (const folder of await abandonedScratchRuns(home)) {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The folders that commands left which were killed. */
export async function abandonedScratchRuns(home: string): Promise<string[]> {
  const runs = join(home, 'runs')
  const abandoned: string[] = []
  for (const name of (await readdir(runs).catch(() => [])).filter(isScratchId)) {
    const stats = await stat(join(runs, name)).catch(() => null)
    if (stats && Date.now() - stats.mtimeMs >= ABANDONED_MS) abandoned.push(join(runs, name))
  }
  return abandoned
}
