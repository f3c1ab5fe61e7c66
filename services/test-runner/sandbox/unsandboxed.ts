import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { standsAt } from '../../../shared/workspace.ts'
import { killTree, MARK_VARIABLE, newMark } from '../run/process-tree.ts'
import { runCommand } from '../run/run-command.ts'
import { goCacheFolder, nameOf, reporters } from './folders.ts'
import type { Sandbox } from './sandbox.ts'

/** Tests run with the rights of this process, on a copy. Only a command line can ask for this. */
export function unsandboxed(home: string): Sandbox {
  return {
    isSandbox: false,
    problem: async () => null,
    layout: ({ root, manifest }) => ({
      workspace: join(root, 'w', nameOf(manifest)),
      home: join(root, 'home'),
      temporary: join(root, 'tmp'),
      reportFile: join(root, 'astra-test-report'),
      reporters,
      goCache: goCacheFolder(home, manifest.workspace, false),
      dependencies: (index) => standsAt(manifest, index),
    }),
    run({ folder, argv, env, timeoutMs, maxOutputBytes, signal }) {
      const mark = newMark(home)
      return runCommand({
        argv: [...parentDeathPrefix(), ...argv] as [string, ...string[]],
        cwd: folder.copy,
        env: { ...env, [MARK_VARIABLE]: mark },
        timeoutMs,
        maxOutputBytes,
        signal,
        stop: (pid) => killTree(pid, mark),
      })
    },
  }
}

let prefix: string[] | undefined

/** The command's first process dies with this one, however this one dies. */
function parentDeathPrefix(): string[] {
  const setpriv = ['setpriv', '--pdeathsig', 'KILL', '--']
  prefix ??= spawnSync('setpriv', [...setpriv.slice(1), 'true']).status === 0 ? setpriv : []
  return prefix
}
