import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { crashPoint } from './crash-point.ts'

/** Parts of ASTRA_HOME that a restore puts in place, each as a whole. */
export const restoredParts = ['memory', 'ledger', 'keys', 'redis', 'runs'] as const
export type RestoredPart = (typeof restoredParts)[number]

/** Written when all that is to be restored lies ready: from then on the restore happens. */
export const decisionSchema = z.strictObject({
  /** The sha256 of the backup's manifest. */
  backup: z.string(),
  parts: z.array(z.enum(restoredParts)),
  /** Where in ASTRA_HOME what was there before is kept; it is made when there is something. */
  replaced: z.string().regex(/^replaced-[0-9A-Za-z-]+$/),
})
export type Decision = z.infer<typeof decisionSchema>

/** Where a restore makes things ready, on the same file system as what they replace. */
export const restoringFolder = (home: string) => join(home, 'restoring')
export const readyFolder = (home: string) => join(restoringFolder(home), 'ready')
export const decisionFile = (home: string) => join(restoringFolder(home), 'decided.json')

/** The restore that was decided and not ended: its process was killed while parts changed places. */
export function readDecision(home: string): Decision | null {
  const file = decisionFile(home)
  if (!existsSync(file)) return null
  return decisionSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
}

/**
 * Ends a decided restore, from wherever it was cut off: each part of the present is moved aside, and
 * the restored one takes its place. Does nothing when none was decided. The caller holds the lock
 * of this ASTRA_HOME.
 */
export function endRestore(home: string): Decision | null {
  const decision = readDecision(home)
  if (!decision) return null
  const aside = join(home, decision.replaced)
  for (const part of decision.parts) switchPart(home, part, aside)
  flushFolder(home)
  rmSync(decisionFile(home))
  flushFolder(restoringFolder(home))
  rmSync(restoringFolder(home), { recursive: true })
  return decision
}

/** A restored part that lies ready no more has its place: the present one is not moved again. */
function switchPart(home: string, part: RestoredPart, aside: string): void {
  const [ready, present] = [join(readyFolder(home), part), join(home, part)]
  if (!existsSync(ready)) return
  if (existsSync(present)) {
    mkdirSync(aside, { recursive: true, mode: 0o700 })
    renameSync(present, join(aside, part))
    flushFolder(aside)
  }
  crashPoint('restore.moved-aside')
  renameSync(ready, present)
  crashPoint('restore.part-placed')
}

/** A rename is lost in a power failure until its folder is on the disk. */
function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
