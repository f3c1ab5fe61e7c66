import { existsSync, rmSync, statSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../shared/config.ts'
import { crashPoint } from '../../../shared/crash-point.ts'
import { UsageError } from '../../../shared/errors.ts'
import { takeLock } from '../../../shared/home-lock.ts'
import {
  type Decision,
  decisionFile,
  endRestore,
  type RestoredPart,
  readDecision,
  readyFolder,
  restoredParts,
  restoringFolder,
} from '../../../shared/pending-restore.ts'
import { writeFileAtomic } from '../../../shared/run-files.ts'
import { checkBackup } from './check-backup.ts'
import { flush, flushTree } from './flush-tree.ts'
import type { BackupManifest } from './manifest.ts'
import { mergeEvidence, mergeKeys } from './merge-files.ts'
import { readArchive } from './read-archive.ts'
import { restoreState, type Spent } from './restore-state.ts'
import { refuseRunningServices } from './running-services.ts'

type Env = Record<string, string | undefined>

export type RestoreOrder = {
  file: string
  /** Puts what is there aside instead of refusing. */
  force: boolean
  env: Env
  interrupted: AbortSignal
}

export type Restored = {
  manifest: BackupManifest
  /** Where what was there before is kept; null when there was nothing. */
  replaced: string | null
  /** What is booked now; null for a restore that was only ended. */
  spent: Spent | null
}

/**
 * Puts the parts of a backup in place. All of it is made ready and checked first; then one small file
 * decides, and the parts change places. Killed before that, the present is as it was; killed after it, the
 * next start of services or the next restore goes on where it was.
 */
export async function restoreBackup(config: Config, order: RestoreOrder): Promise<Restored> {
  const { home } = config
  await mkdir(join(home, 'run'), { recursive: true, mode: 0o700 })
  const lock = takeLock(join(home, 'run', 'supervisor.lock'))
  if (!lock) {
    throw new UsageError(`the services of ${home} run`, {
      hint: 'end the commands that use them, such as `astra up`, then restore',
    })
  }
  try {
    await refuseRunningServices(config)
    const ended = endRestore(home)
    await rm(restoringFolder(home), { recursive: true, force: true })
    return await restoreUnpacked(config, order, ended)
  } finally {
    // What was decided stays for whoever goes on with it.
    if (readDecision(home) === null) rmSync(restoringFolder(home), { recursive: true, force: true })
    lock.release()
  }
}

/** `ended`: a restore that was cut off after it was decided, and has just been ended. */
async function restoreUnpacked(
  config: Config,
  { file, force, env, interrupted }: RestoreOrder,
  ended: Decision | null,
): Promise<Restored> {
  const { home } = config
  const present = await presentParts(home)
  if (!force && ended === null && present.length > 0) throw holdsData(home, present)
  const ready = readyFolder(home)
  await mkdir(ready, { recursive: true, mode: 0o700 })
  const { manifest, id } = await readArchive(file, ready, interrupted)
  if (ended?.backup === id) return { manifest, replaced: keptIn(home, ended), spent: null }
  if (!force && present.length > 0) throw holdsData(home, present)
  checkBackup(config, manifest, ready)
  await mkdir(join(ready, 'runs'), { recursive: true, mode: 0o700 })
  await mergeKeys(home, ready)
  await mergeEvidence(home, ready)
  const spent = await restoreState(config, ready, env)
  interrupted.throwIfAborted()
  await flushTree(ready)
  crashPoint('restore.ready')
  const decision = await decide(home, id)
  crashPoint('restore.decided')
  endRestore(home)
  return { manifest, replaced: keptIn(home, decision), spent }
}

const keptIn = (home: string, { replaced }: Decision) =>
  existsSync(join(home, replaced)) ? join(home, replaced) : null

async function presentParts(home: string): Promise<RestoredPart[]> {
  const found: RestoredPart[] = []
  for (const part of restoredParts) {
    const folder = join(home, part)
    if ((await readdir(folder).catch(() => [])).length === 0) continue
    // Found out before anything is decided: a mounted folder cannot change its place.
    if (statSync(folder).dev !== statSync(home).dev) {
      throw new UsageError(`${folder} is on another disk than ${home}: it cannot be put aside`, {
        hint: 'nothing was changed; empty it first, or restore into another ASTRA_HOME',
      })
    }
    found.push(part)
  }
  return found
}

function holdsData(home: string, present: readonly string[]): UsageError {
  return new UsageError(`${home} holds data already: ${present.join(', ')}`, {
    hint: 'nothing was changed; --force restores all the same, and keeps that in a folder beside it',
  })
}

/** From here on the restore happens, whoever ends it. */
async function decide(home: string, backup: string): Promise<Decision> {
  const names = await readdir(readyFolder(home))
  const parts = restoredParts.filter((part) => names.includes(part))
  const replaced = `replaced-${new Date().toISOString().replace(/[:.]/g, '-')}`
  const decision = { backup, parts, replaced }
  await writeFileAtomic(decisionFile(home), JSON.stringify(decision))
  await flush(restoringFolder(home))
  return decision
}
