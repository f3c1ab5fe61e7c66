import { mkdirSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sha256 } from '../../../shared/contracts/ids.ts'
import { UsageError } from '../../../shared/errors.ts'

/**
 * Calls `use` while no other process of this installation applies a patch to the workspace: one that
 * puts back what it wrote would undo the other's work. The lock is SQLite's own file lock, which the
 * death of its holder releases. Throws UsageError when another process has it.
 */
export async function withApplyLock<T>(
  home: string,
  workspace: string,
  use: () => Promise<T>,
): Promise<T> {
  const real = await realpath(workspace).catch(() => workspace)
  const folder = join(home, 'run', 'applying')
  mkdirSync(folder, { recursive: true })
  const lock = new DatabaseSync(join(folder, `${sha256(real).slice(0, 32)}.lock`))
  try {
    takeLock(lock, real)
    return await use()
  } finally {
    lock.close()
  }
}

function takeLock(lock: DatabaseSync, workspace: string): void {
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE')
  } catch (error) {
    if (!(error instanceof Error && /locked|busy/i.test(error.message))) throw error
    throw new UsageError(`another patch is being applied to ${workspace}`, {
      hint: 'try again when that has ended',
      cause: error,
    })
  }
}
