import { randomBytes } from 'node:crypto'
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { Patch } from '../../shared/contracts/patch.ts'
import { AstraError } from '../../shared/errors.ts'

/** `changed` names the files that are neither what the patch was made from nor what it makes. */
export type ApplyResult = { applied: true } | { applied: false; changed: string[] }

type PatchFile = Patch['files'][number]
type Current = { bytes: Buffer; mode: number } | null
/** A file that is still to be written, with what is there now. */
type Step = { file: PatchFile; target: string; current: Current; temporary: string | null }

const NEW_FILE_MODE = 0o644

/**
 * Applies a patch to a workspace as a whole or not at all: when any file changed since the snapshot,
 * nothing is written. A file that already is what the patch makes of it counts as done, so a second
 * call completes a first one that was killed. Throws when a file cannot be written; what was
 * written until then is put back.
 */
export async function applyPatch(workspace: string, patch: Patch): Promise<ApplyResult> {
  const steps: Step[] = []
  const changed: string[] = []
  for (const file of patch.files) {
    const step = await check(workspace, file)
    if (step === 'changed') changed.push(file.path)
    else if (step !== 'done') steps.push(step)
  }
  if (changed.length > 0) return { applied: false, changed }
  await writeAll(steps)
  return { applied: true }
}

async function writeAll(steps: Step[]): Promise<void> {
  const replaced: Step[] = []
  try {
    // All new contents are on the disk before the first file is replaced.
    for (const step of steps) step.temporary = await writeBeside(step)
    for (const step of steps) {
      await replace(step)
      replaced.push(step)
    }
  } catch (error) {
    const stuck = await putAllBack(replaced)
    for (const { temporary } of steps) if (temporary) await rm(temporary, { force: true })
    if (stuck.length === 0) throw error
    throw new AstraError('half_applied', `could not put back ${stuck.join(', ')}`, {
      hint: 'the other files are as they were; apply the run again when they can be written',
      cause: error,
    })
  }
}

/** The files that could not be put back. */
async function putAllBack(replaced: Step[]): Promise<string[]> {
  const stuck: string[] = []
  for (const step of replaced.reverse()) {
    await putBack(step).catch(() => stuck.push(step.file.path))
  }
  return stuck
}

async function check(workspace: string, file: PatchFile): Promise<Step | 'changed' | 'done'> {
  if (!isPlainPath(file.path)) throw new Error(`the patch names a path outside: ${file.path}`)
  if (await passesLink(workspace, file.path)) return 'changed'
  const target = join(workspace, file.path)
  const current = await readCurrent(target)
  if (current === 'other') return 'changed'
  const hash = current && sha256(current.bytes)
  if (hash === (file.after === null ? null : sha256(file.after))) return 'done'
  if (hash !== file.before) return 'changed'
  return { file, target, current, temporary: null }
}

function isPlainPath(path: string): boolean {
  const parts = path.split('/')
  return (
    !path.includes('\0') &&
    parts.every((part) => !['', '.', '..'].includes(part) && part.toLowerCase() !== '.git')
  )
}

/** A folder that became a link since the snapshot would lead the write elsewhere. */
async function passesLink(workspace: string, path: string): Promise<boolean> {
  let at = workspace
  for (const part of path.split('/').slice(0, -1)) {
    at = join(at, part)
    const stats = await lstat(at).catch(() => null)
    if (stats === null) return false
    if (!stats.isDirectory()) return true
  }
  return false
}

async function readCurrent(target: string): Promise<Current | 'other'> {
  const stats = await lstat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (stats === null) return null
  if (!stats.isFile()) return 'other'
  return { bytes: await readFile(target), mode: stats.mode & 0o777 }
}

async function writeBeside({ file, target, current }: Step): Promise<string | null> {
  if (file.after === null) return null
  return writeTemporary(target, file.after, current?.mode ?? NEW_FILE_MODE)
}

async function writeTemporary(
  target: string,
  data: string | Buffer,
  mode: number,
): Promise<string> {
  await mkdir(dirname(target), { recursive: true })
  const temporary = `${target}.${randomBytes(4).toString('hex')}.tmp`
  const file = await open(temporary, 'wx')
  try {
    await file.writeFile(data)
    await file.chmod(mode)
    await file.sync()
  } finally {
    await file.close()
  }
  return temporary
}

async function replace({ target, temporary }: Step): Promise<void> {
  if (temporary === null) await rm(target, { force: true })
  else await rename(temporary, target)
}

async function putBack({ target, current }: Step): Promise<void> {
  if (current === null) await rm(target, { force: true })
  else await rename(await writeTemporary(target, current.bytes, current.mode), target)
}
