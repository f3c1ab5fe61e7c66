import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Manifest } from '../../shared/contracts/manifest.ts'
import type { UnusableTests } from '../../shared/contracts/tests.ts'
import type { TestCommand } from './command-line.ts'
import type { TestRunConfig } from './completed-tests.ts'
import { testEnvironment } from './environment.ts'
import { findProgram } from './programs.ts'
import { editableSources } from './python-sources.ts'
import { runners } from './runners/all.ts'
import { goCacheFolder } from './sandbox/folders.ts'
import { outsideMounts } from './sandbox/outside-mounts.ts'
import type { Mount, SandboxedCommand } from './sandbox/sandbox.ts'
import type { TestFolder } from './test-folder.ts'
import { findToolchain } from './toolchains/find-toolchain.ts'
import { exists, isBelow, isSystemPath, type ToolchainRequest } from './toolchains/toolchain.ts'
import { unusable } from './unusable.ts'

type Limits = Pick<SandboxedCommand, 'timeoutMs' | 'maxOutputBytes' | 'signal'>
type Prepared = Omit<SandboxedCommand, keyof Limits> & { kind: 'prepared' }

type CommandToPrepare = {
  folder: TestFolder
  manifest: Manifest
  command: TestCommand
  /** The runner's program by name, and its arguments. */
  argv: readonly [string, ...string[]]
  /** Whether caches of builds may be filled from this copy: it is the base, with nothing of a model's. */
  fillCaches: boolean
  limits: Limits
}

/** Finds a command's program and toolchain, and what of this machine they need to see. */
export async function prepareCommand(
  { folder, manifest, command, argv, fillCaches, limits }: CommandToPrepare,
  toolchainRequest: ToolchainRequest,
  config: TestRunConfig,
): Promise<Prepared | UnusableTests> {
  const { layout } = folder
  const toolchain = await findToolchain(command.runner, toolchainRequest)
  const pythonPath = await importableSources(toolchain.env.VIRTUAL_ENV, folder, manifest)
  const { pathEnv, guarded } = toolchainRequest
  const env = testEnvironment({ layout, toolchain, pathEnv, pythonPath })
  const mounts = [
    ...toolchain.places.map((place) => ({ source: place, target: place })),
    ...(await outsideMounts(manifest.workspace, folder.outside, guarded)),
  ]
  const [name, ...rest] = argv
  const program = (await ownProgram(name, folder, manifest)) ?? (await findProgram(name, env.PATH))
  if (!program) {
    const { installHint } = runners[command.runner]
    return unusable('runner_missing', `${name} was not found: ${installHint}`)
  }
  if (config.sandbox.isSandbox && !isShown(program, mounts, folder, manifest)) {
    return unusable(
      'runner_missing',
      `${program} lies in a folder that the sandbox does not show: install ${name} in the workspace`,
    )
  }
  const prepared = { folder, manifest, layout, env: { ...env, ...command.env } }
  if (command.runner === 'go' && config.sandbox.isSandbox) {
    const cache = {
      source: goCacheFolder(config.home, manifest.workspace, true),
      target: layout.goCache,
    }
    await mkdir(cache.source, { recursive: true })
    if (fillCaches) {
      // Compiles and runs no test: what tests could write there would outlive them.
      const list: [string, ...string[]] = [
        program,
        'list',
        '-e',
        '-export',
        '-test',
        '-deps',
        '-f=',
        './...',
      ]
      const writable = [...mounts, { ...cache, writable: true }]
      await config.sandbox.run({ ...prepared, argv: list, mounts: writable, ...limits })
    }
    mounts.push(cache)
  }
  return { kind: 'prepared', ...prepared, argv: [program, ...rest], mounts }
}

/** Where the copy is not at the workspace's own path, editable installs would lead to the person's. */
async function importableSources(
  venv: string | undefined,
  { layout }: TestFolder,
  { workspace }: Manifest,
): Promise<string[]> {
  if (!venv || layout.workspace === workspace) return []
  return editableSources(venv, workspace, layout.workspace)
}

/** A program of the workspace's own packages, as the tests see it. */
async function ownProgram(
  name: string,
  { layout }: TestFolder,
  { links }: Manifest,
): Promise<string | null> {
  const target = links.find((link) => link.path === 'node_modules')?.target
  const isThere = target !== undefined && (await exists(join(target, '.bin', name)))
  return isThere ? join(layout.workspace, 'node_modules', '.bin', name) : null
}

function isShown(
  program: string,
  mounts: readonly Mount[],
  { layout }: TestFolder,
  { links }: Manifest,
): boolean {
  const shown = [...mounts.map((mount) => mount.target), ...links.map((link) => link.target)]
  return (
    [layout.workspace, ...shown].some((path) => isBelow(program, path)) || isSystemPath(program)
  )
}
