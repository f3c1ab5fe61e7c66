import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { canonicalJson } from '../../../shared/canonical-json.ts'
import { sha256 } from '../../../shared/contracts/ids.ts'
import { type Manifest, treeHash } from '../../../shared/contracts/manifest.ts'
import { runnerSchema } from '../../../shared/contracts/receipt.ts'
import { type RunFiles, writeFileAtomic } from '../../../shared/run-files.ts'
import type { CompletedTests } from '../run/completed-tests.ts'

const completedSchema = z.strictObject({
  kind: z.literal('completed'),
  command: z.string(),
  runner: runnerSchema,
  commands: z.array(z.string()),
  tests: z.array(
    z.strictObject({
      id: z.string(),
      file: z.string(),
      name: z.string(),
      status: z.enum(['passed', 'failed', 'skipped']),
      message: z.string(),
    }),
  ),
  exitCode: z.number().int(),
  output: z.string(),
  sandboxed: z.boolean(),
  ms: z.number().int(),
})

/** What a run on a base depends on: with another of these it has to be made again. */
export type BaseRun = {
  manifest: Manifest
  command: string
  pathEnv: string
  sandboxed: boolean
  /** The ids whose files ran alone; null: the whole command ran. */
  targets: readonly string[] | null
}

/** Keeps a run on the base for verifications to come. Repeating it is harmless. */
export async function saveBaseRun(
  files: RunFiles,
  of: BaseRun,
  report: CompletedTests,
): Promise<void> {
  await writeFileAtomic(pathOf(files, of), JSON.stringify(report))
}

/** A run on the base that was made before, or null when it has to be made again. */
export async function loadBaseRun(files: RunFiles, of: BaseRun): Promise<CompletedTests | null> {
  try {
    return completedSchema.parse(JSON.parse(await readFile(pathOf(files, of), 'utf8')))
  } catch {
    // Missing or unreadable is the same: it can always be made again.
    return null
  }
}

function pathOf(files: RunFiles, { manifest, ...of }: BaseRun): string {
  const key = sha256(canonicalJson({ ...of, tree: treeHash(manifest) }))
  return join(files.reports, `base-${key.slice(0, 32)}.json`)
}
