import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Manifest, treeHash } from '../../shared/contracts/manifest.ts'
import { runnerSchema } from '../../shared/contracts/receipt.ts'
import { type RunFiles, writeFileAtomic } from '../../shared/run-files.ts'
import type { CompletedTests } from './completed-tests.ts'

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

const baselineFileSchema = z.strictObject({
  base_tree: z.string(),
  /** By command. */
  reports: z.record(z.string(), completedSchema),
})

const path = (files: RunFiles) => join(files.reports, 'baseline.json')

/** Keeps the report of a base for verifications to come. Repeating it is harmless. */
export async function saveBaseline(
  files: RunFiles,
  manifest: Manifest,
  report: CompletedTests,
): Promise<void> {
  const known = (await readBaselines(files, manifest)) ?? {}
  const reports = { ...known, [report.command]: report }
  const content = { base_tree: treeHash(manifest), reports }
  await writeFileAtomic(path(files), JSON.stringify(content))
}

/** The report of a command on the base, or null when it has to be made again. */
export async function loadBaseline(
  files: RunFiles,
  manifest: Manifest,
  command: string,
): Promise<CompletedTests | null> {
  const reports = await readBaselines(files, manifest)
  return reports && Object.hasOwn(reports, command) ? (reports[command] ?? null) : null
}

async function readBaselines(
  files: RunFiles,
  manifest: Manifest,
): Promise<Record<string, CompletedTests> | null> {
  try {
    const content = baselineFileSchema.parse(JSON.parse(await readFile(path(files), 'utf8')))
    return content.base_tree === treeHash(manifest) ? content.reports : null
  } catch {
    // Missing or unreadable is the same: the baseline can always be made again.
    return null
  }
}
