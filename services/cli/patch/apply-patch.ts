import { sha256 } from '../../../shared/contracts/ids.ts'
import type { Patch } from '../../../shared/contracts/patch.ts'
import { AstraError } from '../../../shared/errors.ts'
import { removeLeftovers } from './apply-leftovers.ts'
import { type Current, putBack, readCurrent, replaceFile, writeBeside } from './replace-file.ts'

/**
 * `changed` names the files that are neither what the patch was made from nor what it makes, `done`
 * those that already are what it makes: not none when an earlier call was killed.
 */
export type ApplyResult = { applied: true } | { applied: false; changed: string[]; done: string[] }

type PatchFile = Patch['files'][number]
/** A file that is still to be written, with what is there now. */
type Step = { file: PatchFile; parts: string[]; current: Current; temporary: string | null }

/**
 * Applies a patch to a workspace as a whole or not at all: when any file changed since the snapshot,
 * nothing is written. A file that already is what the patch makes of it counts as done, so a second
 * call completes a first one that was killed. Throws when a file cannot be written; what was
 * written until then is put back.
 */
export async function applyPatch(workspace: string, patch: Patch): Promise<ApplyResult> {
  const steps: Step[] = []
  const changed: string[] = []
  const done: string[] = []
  const bad = patch.files.find((file) => !isPlainPath(file.path))
  if (bad) throw new Error(`the patch names a path outside: ${bad.path}`)
  await removeLeftovers(
    workspace,
    patch.files.map((file) => file.path.split('/')),
  )
  for (const file of patch.files) {
    const step = await check(workspace, file)
    if (step === 'changed') changed.push(file.path)
    else if (step === 'done') done.push(file.path)
    else steps.push(step)
  }
  if (changed.length > 0) return { applied: false, changed, done }
  await writeAll(workspace, steps)
  return { applied: true }
}

/** Whether a path can name a file of a workspace, by its form alone. */
export function isPlainPath(path: string): boolean {
  const parts = path.split('/')
  return (
    !path.includes('\0') &&
    parts.every((part) => !['', '.', '..'].includes(part) && part.toLowerCase() !== '.git')
  )
}

async function check(workspace: string, file: PatchFile): Promise<Step | 'changed' | 'done'> {
  const parts = file.path.split('/')
  const current = await readCurrent(workspace, parts)
  if (current === 'other') return 'changed'
  const hash = current && sha256(current.bytes)
  if (hash === (file.after === null ? null : sha256(file.after))) return 'done'
  if (hash !== file.before) return 'changed'
  return { file, parts, current, temporary: null }
}

async function writeAll(workspace: string, steps: Step[]): Promise<void> {
  const replaced: Step[] = []
  let at = ''
  try {
    // All new contents are on the disk before the first file is replaced.
    for (const step of steps) {
      const { file, parts, current } = step
      at = file.path
      if (file.after === null) continue
      // Only a new file may need a new folder: one that went away meanwhile is not made again.
      const options = { like: current, create: current === null }
      step.temporary = await writeBeside(workspace, parts, file.after, options)
    }
    for (const step of steps) {
      at = step.file.path
      await replaceFile(workspace, step.parts, step.current?.bytes ?? null, step.temporary)
      replaced.push(step)
    }
  } catch (error) {
    const stuck = await putAllBack(workspace, replaced)
    await removeLeftovers(
      workspace,
      steps.map((step) => step.parts),
    ).catch(() => {})
    throw stuck.length === 0 ? notApplied(at, error) : halfApplied(stuck, error)
  }
}

const notApplied = (path: string, cause: unknown) =>
  new AstraError('not_applied', `nothing was applied: cannot write ${path}`, {
    hint: 'when it can be written, apply the run again',
    cause,
  })

const halfApplied = (stuck: string[], cause: unknown) =>
  new AstraError('half_applied', `could not put back ${stuck.join(', ')}`, {
    hint: 'the other files are as they were; look at these, then apply the run again',
    cause,
  })

/** The files that could not be put back. */
async function putAllBack(workspace: string, replaced: Step[]): Promise<string[]> {
  const stuck: string[] = []
  for (const { file, parts, current } of replaced.reverse()) {
    const written = file.after === null ? null : Buffer.from(file.after)
    await putBack(workspace, parts, written, current).catch(() => stuck.push(file.path))
  }
  return stuck
}
