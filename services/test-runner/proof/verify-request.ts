import type { Blobs } from '../../../shared/blobs/blobs.ts'
import type { RunFiles } from '../../../shared/run-files.ts'
import type { PlacedManifest } from '../../../shared/workspace.ts'
import type { CompletedTests, TestRunConfig } from '../run/completed-tests.ts'

export type VerifyDeps = {
  config: TestRunConfig
  /** What other machines of the fleet have sent; null where there are none. */
  blobs: Blobs | null
  productVersion: string
  signal: AbortSignal
}

export type VerifyRequest = {
  runId: string
  files: RunFiles
  manifest: PlacedManifest
  /** null: the first command that the workspace offers. */
  command: string | null
  /** Names a patch of the run; null: nothing was edited. */
  patch: string | null
  pathEnv: string
  /** All four runs are made: none that was saved counts. */
  fresh: boolean
  /** The whole command on the tree with that patch, where that was green. */
  green: CompletedTests | null
}
