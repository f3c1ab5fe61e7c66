import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findProgram } from '../../../shared/redis-server.ts'
import type { Repair } from './check.ts'

const run = promisify(execFile)
const INSTALL_MS = 600_000

type Env = Record<string, string | undefined>

/** Installs a package of the system; undefined where we cannot: not root, or no apt. */
export function installRepair(name: string, env: Env): { repair?: Repair } {
  const apt = findProgram(['apt-get'], env)
  if (process.getuid?.() !== 0 || !apt) return {}
  const args = ['install', '-y', '--no-install-recommends', name]
  return {
    repair: {
      does: `apt-get ${args.join(' ')}`,
      needsConsent: true,
      async run() {
        const options = { timeout: INSTALL_MS, env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } }
        await run(apt, args, options)
      },
    },
  }
}
