import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { baseline } from '../../services/test-runner/handlers/baseline.ts'
import { run } from '../../services/test-runner/handlers/run.ts'
import { verify } from '../../services/test-runner/handlers/verify.ts'
import { chooseSandbox } from '../../services/test-runner/sandbox/choose-sandbox.ts'
import { goCacheFolder } from '../../services/test-runner/sandbox/folders.ts'
import { CACHE_UID } from '../../services/test-runner/sandbox/uids.ts'
import { productRoot } from '../../shared/config.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { Manifest } from '../../shared/contracts/manifest.ts'
import { UNSAFE_FLAG } from '../../shared/contracts/supervisor.ts'
import { runFiles, savePatch, writeFileAtomic } from '../../shared/run-files.ts'
import { userPath } from '../../shared/user-path.ts'

export const pathEnv = userPath(process.env)

/** True when a program of the person's answers: tests that need it are skipped by name otherwise. */
export function isInstalled(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { env: { ...process.env, PATH: pathEnv } }).status === 0
}

export const hasPytest = isInstalled('python3', '-c', 'import pytest')
export const hasPython = isInstalled('python3', '--version')
export const hasVenv = hasPython && isInstalled('python3', '-c', 'import venv')
export const hasGo = isInstalled('go', 'version')
export const hasCargo = isInstalled('cargo', '--version')

/** A `node_modules` with vitest, jest and mocha. */
export const scriptRunners = join(productRoot, 'node_modules')

/** Where the workspaces of these tests would stand; nothing is there. */
const WORKSPACE = '/home/ann/shop'

type Contents = Record<string, string>
type Options = {
  links?: Manifest['links']
  seconds?: number
  outputBytes?: number
  path?: string
  workspace?: string
  memoryMb?: number
  diskMb?: number
  processes?: number
  unsandboxed?: boolean
}

/** The files of a fixture workspace. */
export async function fixture(name: string): Promise<Contents> {
  const root = join(import.meta.dirname, '..', 'fixtures', 'test-runner', name)
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const texts = files.map(async (entry) => {
    const path = join(entry.parentPath, entry.name)
    return [path.slice(root.length + 1), await readFile(path, 'utf8')] as const
  })
  return Object.fromEntries(await Promise.all(texts))
}

/** A run with a snapshot of `contents`, in an ASTRA_HOME of its own. */
export async function makeRun(contents: Contents, options: Options = {}) {
  const home = await mkdtemp(join(tmpdir(), 'astra-home-'))
  const run_id = 'run-under-test'
  const limits = {
    ASTRA_TEST_MEMORY_MB: options.memoryMb ?? 2048,
    ASTRA_TEST_DISK_MB: options.diskMb ?? 512,
    ASTRA_TEST_PROCESSES: options.processes ?? 512,
  }
  const files = runFiles(home, run_id)
  await writeSnapshot(home, run_id, contents, options)
  const deps = {
    config: {
      home,
      ASTRA_TEST_SECONDS: options.seconds ?? 50,
      ASTRA_TEST_OUTPUT_BYTES: options.outputBytes ?? 1_000_000,
      ...limits,
      sandbox: chooseSandbox({ home, ...limits }, options.unsandboxed ? [UNSAFE_FLAG] : []),
    },
    blobs: null,
    productVersion: '0.0.0-test',
    signal: new AbortController().signal,
  }
  const asked = { run_id, path_env: options.path ?? pathEnv }
  const savedPatch = (edits: Record<string, string | null>) =>
    savePatch(files, patchOf(contents, edits))
  return {
    home,
    files,
    deps,
    baseline: (command: string | null = null) => baseline({ ...asked, command }, deps),
    async run(command: string, edits: Record<string, string | null> | null) {
      const patch = edits && (await savedPatch(edits))
      return run({ ...asked, command, patch }, deps)
    },
    async verify(
      command: string | null,
      edits: Record<string, string | null> | null,
      fresh?: boolean,
    ) {
      const patch = edits && (await savedPatch(edits))
      return verify({ ...asked, command, patch, fresh }, deps)
    },
    remove: () => rm(home, { recursive: true, force: true }),
  }
}

export type TestedRun = Awaited<ReturnType<typeof makeRun>>

export async function writeSnapshot(
  home: string,
  runId: string,
  contents: Contents,
  options: Pick<Options, 'links' | 'workspace'> = {},
): Promise<void> {
  const files = runFiles(home, runId)
  await mkdir(files.base, { recursive: true })
  for (const [path, text] of Object.entries(contents)) {
    await mkdir(dirname(join(files.base, path)), { recursive: true })
    await writeFile(join(files.base, path), text)
  }
  const manifest: Manifest = {
    workspace: options.workspace ?? WORKSPACE,
    files: Object.entries(contents).map(([path, text]) => ({
      path,
      sha256: sha256(text),
      mode: 0o644,
    })),
    links: options.links ?? [],
  }
  await writeFileAtomic(files.manifest, JSON.stringify(manifest))
}

function patchOf(contents: Contents, edits: Record<string, string | null>) {
  return {
    files: Object.entries(edits).map(([path, after]) => {
      const before = contents[path]
      return { path, before: before === undefined ? null : sha256(before), after }
    }),
  }
}

const MAX_CACHE_KB = 500_000

/** The standard library takes half a minute to build into an empty cache; this tests no cache. */
export async function useWarmGoCache(home: string): Promise<void> {
  const cache = execFileSync('go', ['env', 'GOCACHE'], { encoding: 'utf8' }).trim()
  await mkdir(cache, { recursive: true })
  const kilobytes = parseInt(execFileSync('du', ['-sk', cache], { encoding: 'utf8' }), 10)
  if (kilobytes > MAX_CACHE_KB) return
  const ours = goCacheFolder(home, WORKSPACE, true)
  await mkdir(dirname(ours), { recursive: true })
  execFileSync('cp', ['-a', cache, ours])
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', `${CACHE_UID}`, ours])
}
