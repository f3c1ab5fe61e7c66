import type { PlacedManifest } from '../../../shared/workspace.ts'
import type { CommandResult } from '../run/run-command.ts'
import type { Env } from '../toolchains/toolchain.ts'

/** Paths as the tests see them. */
export type Layout = {
  workspace: string
  home: string
  temporary: string
  reportFile: string
  /** The folder of our own reporters. */
  reporters: string
  goCache: string
  /** The n-th link of the manifest; null: it is put in its place without a link. */
  dependencies(index: number): string | null
}

/** One file or folder of this machine that the tests see. */
export type Mount = { source: string; target: string; writable?: boolean }

/** One test run's own folder on this machine. */
export type RunFolder = { root: string; copy: string; copyBytes: number; reportFile: string }

export type SandboxedCommand = {
  folder: RunFolder
  manifest: PlacedManifest
  layout: Layout
  /** An absolute program, as the tests see it, and its arguments. */
  argv: readonly [string, ...string[]]
  env: Env
  /** What the command needs beside the system's own folders. */
  mounts: readonly Mount[]
  timeoutMs: number
  maxOutputBytes: number
  signal: AbortSignal
}

/** How tests are kept from the rest of the machine. */
export type Sandbox = {
  /** False: tests run with the rights of this process, and receipts say so. */
  isSandbox: boolean
  /** Why no test may run at the moment, and what to do; null when all is well. */
  problem(): Promise<string | null>
  layout(request: { root: string; manifest: PlacedManifest }): Layout
  run(command: SandboxedCommand): Promise<CommandResult>
}
