import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UNSAFE_FLAG } from '../../../shared/contracts/supervisor.ts'
import { errorText } from '../../../shared/errors.ts'
import { findProgram } from '../run/programs.ts'
import { bubblewrap, type SandboxConfig } from './bubblewrap.ts'
import type { Sandbox } from './sandbox.ts'
import { unsandboxed } from './unsandboxed.ts'

const TRY_MS = 10_000
const ADVICE = `or start with ${UNSAFE_FLAG}: tests then run with your rights, and receipts say so`

/** The sandbox that the command line asks for. */
export function chooseSandbox(config: SandboxConfig, args: readonly string[]): Sandbox {
  if (args.includes(UNSAFE_FLAG)) return unsandboxed(config.home)
  let works = false
  const sandbox = bubblewrap(config, async () => {
    // Asked again until it works: a person may install what was missing meanwhile.
    const problem = works ? null : await sandboxProblem(sandbox)
    works = problem === null
    return problem
  })
  return sandbox
}

/** Tries the whole of the sandbox with a command that does nothing. */
async function sandboxProblem(sandbox: Sandbox): Promise<string | null> {
  if (process.platform !== 'linux') {
    return `tests run in a sandbox of Linux, and this is ${process.platform}: use a Linux machine, ${ADVICE}`
  }
  if (!(await findProgram('bwrap', process.env.PATH ?? ''))) {
    return `bubblewrap is not installed, and tests run in a sandbox made by it: apt-get install bubblewrap, ${ADVICE}`
  }
  const said = await tryOut(sandbox).catch(errorText)
  if (said === null) return null
  return `bubblewrap does not work here (${said}): it needs user namespaces, which containers and some systems forbid; allow them, ${ADVICE}`
}

async function tryOut(sandbox: Sandbox): Promise<string | null> {
  const root = await mkdtemp(join(tmpdir(), 'astra-sandbox-'))
  try {
    const folder = { root, copy: join(root, 'w'), copyBytes: 0, reportFile: join(root, 'report') }
    await mkdir(folder.copy)
    await writeFile(folder.reportFile, '')
    const manifest = { workspace: '/workspace', files: [], links: [] }
    const layout = sandbox.layout({ root, manifest })
    const result = await sandbox.run({
      folder,
      manifest,
      layout,
      argv: ['/bin/sh', '-c', 'exit 0'],
      env: { PATH: '/usr/bin:/bin', HOME: layout.home },
      mounts: [],
      timeoutMs: TRY_MS,
      maxOutputBytes: 10_000,
      signal: AbortSignal.timeout(TRY_MS),
    })
    if (result.end === 'exited' && result.exitCode === 0) return null
    return result.output.trim().split('\n')[0] || `it ended with ${result.exitCode ?? result.end}`
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}
