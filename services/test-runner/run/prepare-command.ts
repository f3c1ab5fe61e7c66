import { basename, join, relative } from 'node:path'
import type { Runner } from '../../../shared/contracts/receipt.ts'
import type { UnusableTests } from '../../../shared/contracts/tests.ts'
import { type PlacedManifest, standsAt } from '../../../shared/workspace.ts'
import type { TestFolder } from '../copy/test-folder.ts'
import type { TestCommand } from '../discovery/command-line.ts'
import { runners } from '../runners/all.ts'
import { hoistedFolders, outsideMounts } from '../sandbox/outside-mounts.ts'
import type { Mount, SandboxedCommand } from '../sandbox/sandbox.ts'
import { arrivedVenvProblem } from '../toolchains/arrived-venv.ts'
import { findToolchain } from '../toolchains/find-toolchain.ts'
import { exists, isBelow, isSystemPath, type ToolchainRequest } from '../toolchains/toolchain.ts'
import type { TestRunConfig } from './completed-tests.ts'
import { testEnvironment } from './environment.ts'
import { fillGoCache, goCacheMount } from './go-build-cache.ts'
import { findProgram } from './programs.ts'
import { editableSources } from './python-sources.ts'
import { unusable } from './unusable.ts'

type Limits = Pick<SandboxedCommand, 'timeoutMs' | 'maxOutputBytes' | 'signal'>
type Prepared = Omit<SandboxedCommand, keyof Limits> & { kind: 'prepared' }

type CommandToPrepare = {
  folder: TestFolder
  manifest: PlacedManifest
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
  const problem = PYTHON_RUNNERS.has(command.runner) ? await arrivedVenvProblem(manifest) : null
  if (problem) return unusable('runner_missing', problem)
  const toolchain = await findToolchain(command.runner, toolchainRequest)
  const pythonPath = await importableSources(toolchain.env.VIRTUAL_ENV, folder, manifest)
  const { pathEnv, guarded } = toolchainRequest
  const bins = await binFolders(layout.workspace, manifest)
  const usesPackages = NODE_RUNNERS.has(command.runner)
  const env = testEnvironment({ layout, toolchain, pathEnv, pythonPath, bins, usesPackages })
  const mounts = [
    ...toolchain.places.map((place) => ({ source: place, target: place })),
    ...(manifest.arrived ? [] : await outsideMounts(manifest.workspace, folder.outside, guarded)),
  ]
  const [name, ...rest] = argv
  const own = usesPackages
    ? await ownProgram(name, folder, manifest)
    : await arrivedProgram(name, toolchain.folders, manifest)
  const program = own ?? (await findProgram(name, env.PATH))
  if (!program) {
    const { installHint } = runners[command.runner]
    return unusable('runner_missing', `${name} was not found: ${installHint}`)
  }
  if (config.sandbox.isSandbox && !isShown(program, mounts, folder, manifest)) {
    return unusable(
      'runner_missing',
      `${program} cannot be shown to the sandbox: it is not part of the workspace, nor a ${name} that ` +
        'says where it is installed (a version manager may need a default version)',
    )
  }
  const prepared = { folder, manifest, layout, argv: [program, ...rest] as const, mounts }
  if (command.runner === 'go' && config.sandbox.isSandbox) {
    const cache = await goCacheMount(config.home, prepared)
    // Without the command's own variables: GOFLAGS could name programs to run.
    if (fillCaches) await fillGoCache(cache, config.sandbox, { ...prepared, env, ...limits })
    mounts.push(cache)
  }
  return { kind: 'prepared', ...prepared, env: { ...env, ...command.env } }
}

const PYTHON_RUNNERS: ReadonlySet<Runner> = new Set(['pytest', 'unittest'])
const NODE_RUNNERS: ReadonlySet<Runner> = new Set(['node', 'vitest', 'jest', 'mocha'])

/** Where npm puts the programs of packages, as the tests see them, the nearest first. */
async function binFolders(workspace: string, manifest: PlacedManifest): Promise<string[]> {
  // What is above the path of another machine's workspace is not theirs here.
  const above = manifest.arrived ? [] : await hoistedFolders(manifest.workspace)
  const modules = [join(workspace, 'node_modules'), ...above]
  return modules.map((folder) => join(folder, '.bin'))
}

/** Where the copy is not at the workspace's own path, editable installs would lead to the person's. */
async function importableSources(
  venv: string | undefined,
  { layout }: TestFolder,
  { workspace }: PlacedManifest,
): Promise<string[]> {
  if (!venv || layout.workspace === workspace) return []
  return editableSources(venv, workspace, layout.workspace)
}

/** A program of the workspace's own packages, as the tests see it. */
async function ownProgram(
  name: string,
  { layout }: TestFolder,
  manifest: PlacedManifest,
): Promise<string | null> {
  const index = manifest.links.findIndex((link) => link.path === 'node_modules')
  const place = standsAt(manifest, index)
  const isThere = place !== null && (await exists(join(place, '.bin', name)))
  return isThere ? join(layout.workspace, 'node_modules', '.bin', name) : null
}

/** A program of a virtual environment that is not yet where the tests will see it. */
async function arrivedProgram(
  name: string,
  folders: readonly string[],
  manifest: PlacedManifest,
): Promise<string | null> {
  if (!manifest.arrived) return null
  for (const [index, { target }] of manifest.links.entries()) {
    const place = standsAt(manifest, index)
    for (const folder of folders.filter((each) => place !== null && isBelow(each, target))) {
      const found = await findProgram(name, join(place ?? '', relative(target, folder)))
      if (found) return join(folder, basename(found))
    }
  }
  return null
}

function isShown(
  program: string,
  mounts: readonly Mount[],
  { layout }: TestFolder,
  { links }: PlacedManifest,
): boolean {
  const shown = [...mounts.map((mount) => mount.target), ...links.map((link) => link.target)]
  return (
    [layout.workspace, ...shown].some((path) => isBelow(program, path)) || isSystemPath(program)
  )
}
