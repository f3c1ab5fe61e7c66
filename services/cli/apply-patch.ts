import { sha256 } from '../../shared/contracts/ids.ts'
import type { Patch } from '../../shared/contracts/patch.ts'
import { AstraError } from '../../shared/errors.ts'
import {
  type Current,
  putBack,
  readCurrent,
  replaceFile,
  tidyBeside,
  writeBeside,
} from './replace-file.ts'

/**
 * `changed` names the files that are neither what the patch was made from nor what it makes, `done`
 * those that already are what it makes: not none when an earlier call was killed.
 */
export type ApplyResult = { applied: true } | { applied: false; changed: string[]; done: string[] }

type PatchFile = Patch['files'][number]
/** A file that is still to be written, with what is there now. */
type Step = { file: PatchFile; parts: string[]; current: Current; temporary: string | null }

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
  const done: string[] = []
  for (const file of patch.files) {
    if (!isPlainPath(file.path)) throw new Error(`the patch names a path outside: ${file.path}`)
    const parts = file.path.split('/')
    await tidyBeside(workspace, parts)
    const step = await check(workspace, file, parts)
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

async function check(
  workspace: string,
  file: PatchFile,
  parts: string[],
): Promise<Step | 'changed' | 'done'> {
  const current = await readCurrent(workspace, parts)
  if (current === 'other') return 'changed'
  const hash = current && sha256(current.bytes)
  if (hash === (file.after === null ? null : sha256(file.after))) return 'done'
  if (hash !== file.before) return 'changed'
  return { file, parts, current, temporary: null }
}

async function writeAll(workspace: string, steps: Step[]): Promise<void> {
  const replaced: Step[] = []
  try {
    // All new contents are on the disk before the first file is replaced.
    for (const step of steps) {
      const { file, parts, current } = step
      if (file.after === null) continue
      const content = { data: file.after, mode: current?.mode ?? NEW_FILE_MODE }
      // Only a new file may need a new folder: one that went away meanwhile is not made again.
      const create = current === null
      step.temporary = await writeBeside(workspace, parts, content, { create })
    }
    for (const step of steps) {
      await replaceFile(workspace, step.parts, step.current, step.temporary)
      replaced.push(step)
    }
  } catch (error) {
    const stuck = await putAllBack(workspace, replaced)
    for (const { parts } of steps) await tidyBeside(workspace, parts).catch(() => {})
    if (stuck.length === 0) throw error
    throw new AstraError('half_applied', `could not put back ${stuck.join(', ')}`, {
      hint: 'the other files are as they were; apply the run again when they can be written',
      cause: error,
    })
  }
}

/** The files that could not be put back. */
async function putAllBack(workspace: string, replaced: Step[]): Promise<string[]> {
  const stuck: string[] = []
  for (const { parts, current } of replaced.reverse()) {
    await putBack(workspace, parts, current).catch(() => stuck.push(parts.join('/')))
  }
  return stuck
}
