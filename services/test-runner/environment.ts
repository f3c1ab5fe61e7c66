import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { satisfies } from 'semver'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { Manifest } from '../../shared/contracts/manifest.ts'
import { nodeVersionOn } from './programs.ts'
import { editableSources } from './python-sources.ts'
import type { TestFolder } from './test-folder.ts'

type Env = Record<string, string>
type EnvironmentRequest = {
  /** ASTRA_HOME, for caches that are slow to fill. */
  home: string
  manifest: Manifest
  folder: TestFolder
  /** PATH of the person who asked. */
  pathEnv: string
  /** The range of Node versions that the workspace allows, if it says so. */
  nodeRange: string | null
}

/** What may come from this process: how text and time are read, nothing that could be a secret. */
const PASSED_ON = ['LANG', 'LC_ALL', 'TZ', 'PYENV_ROOT', 'GOROOT', 'RUSTUP_TOOLCHAIN'] as const

/** The whole environment of a workspace's tests: an allow-list, and folders of the run's own. */
export async function testEnvironment(request: EnvironmentRequest): Promise<Env> {
  const { folder, manifest } = request
  const passedOn = PASSED_ON.map((name) => [name, process.env[name]] as const)
  const env: Env = {
    ...Object.fromEntries(passedOn.filter((entry) => entry[1])),
    LANG: process.env.LANG || 'C.UTF-8',
    HOME: folder.home,
    TMPDIR: folder.temporary,
    CI: '1',
    NO_COLOR: '1',
    ...goEnvironment(request),
    ...rustEnvironment(),
  }
  const venv = venvOf(folder.workspace, manifest)
  const path = [
    ...(venv ? [join(venv, 'bin')] : []),
    join(folder.workspace, 'node_modules', '.bin'),
    ...(await nodeFolders(request)),
    request.pathEnv,
  ]
  env.PATH = path.join(delimiter)
  if (venv) {
    env.VIRTUAL_ENV = venv
    const sources = await editableSources(venv, manifest.workspace, folder.workspace)
    if (sources.length > 0) env.PYTHONPATH = sources.join(delimiter)
  } else {
    // HOME is another one here, and `pip install --user` is looked for below it.
    env.PYTHONUSERBASE = join(homedir(), '.local')
  }
  return env
}

function venvOf(workspace: string, manifest: Manifest): string | null {
  const folders = manifest.links.map((link) => join(workspace, link.path))
  return folders.find((folder) => existsSync(join(folder, 'bin', 'python'))) ?? null
}

/** The folder of our own Node, where the workspace excludes the person's and allows ours. */
async function nodeFolders({ pathEnv, nodeRange }: EnvironmentRequest): Promise<string[]> {
  if (nodeRange === null || !satisfies(process.version, nodeRange)) return []
  const version = await nodeVersionOn(pathEnv)
  return version && satisfies(version, nodeRange) ? [] : [dirname(process.execPath)]
}

/** Modules from the person's cache, nothing from the network, builds in a cache per workspace. */
function goEnvironment({ home, manifest, folder }: EnvironmentRequest): Env {
  const goPath = process.env.GOPATH || join(homedir(), 'go')
  const vendored = existsSync(join(folder.workspace, 'vendor', 'modules.txt'))
  return {
    GOPROXY: 'off',
    GOTOOLCHAIN: 'local',
    GOFLAGS: vendored ? '-mod=vendor' : '-mod=mod',
    GOMODCACHE: process.env.GOMODCACHE || join(goPath, 'pkg', 'mod'),
    GOCACHE: goCacheFolder(home, manifest.workspace),
  }
}

/** One for each workspace: shared by all, one could poison what another builds. */
export function goCacheFolder(home: string, workspace: string): string {
  return join(home, 'cache', 'go', sha256(workspace).slice(0, 16))
}

function rustEnvironment(): Env {
  return {
    CARGO_HOME: process.env.CARGO_HOME || join(homedir(), '.cargo'),
    RUSTUP_HOME: process.env.RUSTUP_HOME || join(homedir(), '.rustup'),
    RUSTUP_AUTO_INSTALL: '0',
    CARGO_NET_OFFLINE: 'true',
  }
}
