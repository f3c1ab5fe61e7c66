import type { RunFiles } from '../../../shared/run-files.ts'
import type { Journal } from '../journal/journal.ts'

/** A run as a step of it sees it. */
export type Run = { runId: string; files: RunFiles; journal: Journal }
