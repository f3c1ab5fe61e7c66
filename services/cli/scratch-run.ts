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
  const folder = join(home, 'runs')
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter(isScratchId)) {
    const stats = await stat(join(folder, name)).catch(() => null)
    if (!stats || Date.now() - stats.mtimeMs < ABANDONED_MS) continue
    await rm(join(folder, name), { recursive: true, force: true })
  }
}
