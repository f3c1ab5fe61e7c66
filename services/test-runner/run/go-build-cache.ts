import { mkdir } from 'node:fs/promises'
import { delimiter, dirname } from 'node:path'
import { goCacheFolder } from '../sandbox/folders.ts'
import type { Mount, Sandbox, SandboxedCommand } from '../sandbox/sandbox.ts'

/** Flags that change what is compiled, and run nothing of the workspace's. */
const COMPILER_FLAGS = /^--?(tags=.*|race|msan|asan|cover|coverpkg=.*|covermode=.*)$/
/** For the C compiler; programs that a workspace brings write nothing to the cache. */
const SYSTEM_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin']

/** A workspace's build cache as its tests see it: they cannot write there. */
export async function goCacheMount(
  home: string,
  command: Pick<SandboxedCommand, 'manifest' | 'layout'>,
): Promise<Mount> {
  const source = goCacheFolder(home, command.manifest.workspace, true)
  await mkdir(source, { recursive: true })
  return { source, target: command.layout.goCache }
}

/**
 * Compiles all tests and runs none: what tests could write to the cache would outlive them. In their
 * place `go test` starts a program that does nothing.
 */
export async function fillGoCache(
  cache: Mount,
  sandbox: Sandbox,
  command: SandboxedCommand,
): Promise<void> {
  const [go, ...args] = command.argv
  const flags = args.filter((arg) => COMPILER_FLAGS.test(arg))
  await sandbox.run({
    ...command,
    env: { ...command.env, PATH: [dirname(go), ...SYSTEM_FOLDERS].join(delimiter) },
    argv: [go, 'test', '-exec=/bin/true', ...flags, './...'],
    mounts: [...command.mounts, { ...cache, writable: true }],
  })
}
