import { randomBytes } from 'node:crypto'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { arrivedFolder, UNFINISHED } from './arrive-tree.ts'
import type { BlobConfig } from './blobs.ts'
import { KEPT_SECONDS } from './content.ts'

const DAY_MS = 24 * 3600 * 1000
/** What arrived can be brought here again. */
const ARRIVED_MS = 7 * DAY_MS
/** Longer than anything takes to arrive. */
const UNFINISHED_MS = DAY_MS
const KEPT_MS = KEPT_SECONDS * 1000

type Removal = { home: string; sharedDir: string | undefined; now: number }

/**
 * Removes what nobody has used for long: snapshots that arrived here, the folders of runs that were asked
 * for elsewhere, and contents in the shared folder. What is in Redis goes by itself.
 */
export async function removeUnused({ home, sharedDir, now }: Removal): Promise<void> {
  const arrived = arrivedFolder(home)
  for (const name of await namesIn(arrived)) {
    const limit = name.startsWith('.') ? UNFINISHED_MS : ARRIVED_MS
    if (await isOlder(join(arrived, name), now - limit)) await removeWhole(arrived, name)
  }
  const runs = join(home, 'runs')
  for (const name of await namesIn(runs)) {
    if (await isLeftOfForeignRun(join(runs, name), now - KEPT_MS)) await removeWhole(runs, name)
  }
  if (sharedDir) await removeOldContents(join(sharedDir, 'blobs'), now - KEPT_MS)
}

/** Removes now and each day, as long as the process runs. A fault waits for the next day. */
export function keepRemoving(config: BlobConfig & { home: string }, log: Logger): { stop(): void } {
  if (!('url' in config.redis)) return { stop() {} }
  const remove = () =>
    removeUnused({ home: config.home, sharedDir: config.ASTRA_SHARED_DIR, now: Date.now() }).catch(
      (error) => log.warn({ error: errorText(error) }, 'unused snapshots were not removed'),
    )
  void remove()
  const timer = setInterval(remove, DAY_MS).unref()
  return { stop: () => clearInterval(timer) }
}

/** Under another name first: whoever looks meanwhile finds all of it or nothing. */
async function removeWhole(folder: string, name: string): Promise<void> {
  const going = join(folder, `${UNFINISHED}${randomBytes(6).toString('hex')}`)
  await rename(join(folder, name), going)
  await rm(going, { recursive: true, force: true })
}

/** A run that was asked for here has its snapshot, and is kept. */
async function isLeftOfForeignRun(folder: string, before: number): Promise<boolean> {
  const names = await namesIn(folder)
  if (names.includes('base.json')) return false
  const places = [folder, ...names.map((name) => join(folder, name))]
  const old = await Promise.all(places.map((place) => isOlder(place, before)))
  return old.every(Boolean)
}

async function removeOldContents(folder: string, before: number): Promise<void> {
  for (const part of await namesIn(folder)) {
    for (const name of await namesIn(join(folder, part))) {
      const path = join(folder, part, name)
      if (await isOlder(path, before)) await rm(path, { force: true })
    }
  }
}

const namesIn = (folder: string) => readdir(folder).catch((): string[] => [])

async function isOlder(path: string, before: number): Promise<boolean> {
  const stats = await stat(path).catch(() => null)
  return stats !== null && stats.mtimeMs < before
}
