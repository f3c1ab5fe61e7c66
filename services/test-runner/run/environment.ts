import { delimiter } from 'node:path'
import type { Layout } from '../sandbox/sandbox.ts'
import type { Env, Toolchain } from '../toolchains/toolchain.ts'

type EnvironmentRequest = {
  layout: Layout
  toolchain: Toolchain
  /** PATH of the person who asked. */
  pathEnv: string
  /** Folders that Python looks into before its own. */
  pythonPath: readonly string[]
  /** Folders of programs that packages bring. */
  bins: readonly string[]
  /** Whether these come before the toolchain. */
  usesPackages: boolean
}

/** What may come from this process: how text and time are read, nothing that could be a secret. */
const PASSED_ON = ['LANG', 'LC_ALL', 'TZ'] as const

/** The whole environment of a workspace's tests: an allow-list, and folders of the run's own. */
export function testEnvironment(request: EnvironmentRequest): Env & { PATH: string } {
  const { layout, toolchain, pathEnv, pythonPath, bins, usesPackages } = request
  const passedOn = PASSED_ON.map((name) => [name, process.env[name]] as const)
  const { folders } = toolchain
  const [first, second] = usesPackages ? [bins, folders] : [folders, bins]
  return {
    ...Object.fromEntries(passedOn.filter((entry) => entry[1])),
    LANG: process.env.LANG || 'C.UTF-8',
    HOME: layout.home,
    TMPDIR: layout.temporary,
    CI: '1',
    NO_COLOR: '1',
    ...toolchain.env,
    ...(pythonPath.length > 0 ? { PYTHONPATH: pythonPath.join(delimiter) } : {}),
    PATH: [...first, ...second, pathEnv].join(delimiter),
  }
}
