import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { Config } from '../../../shared/config.ts'
import { programFile } from '../../../shared/program-file.ts'
import { abandonedScratchRuns } from '../scratch-run.ts'
import type { Finding } from './check.ts'

const run = promisify(execFile)
const PROGRAM_MS = 30_000
/** Each knows what its own kind leaves when it is killed; services do not import each other. */
const programs = ['services/supervisor/find-leftovers', 'services/test-runner/find-leftovers']

type Env = Record<string, string | undefined>

/** What killed processes of this installation left behind. The next start of services ends most of it. */
export async function examineLeftovers(config: Config, env: Env): Promise<Finding> {
  const scratch = await abandonedScratchRuns(config.home)
  const left = [...scratch, ...(await askPrograms(config, env, 'list'))]
  if (left.length === 0) return { result: 'ok', found: 'none', advice: null }
  return {
    result: 'warn',
    found: left.join(', '),
    advice: '`astra doctor --fix` removes them, and so does the next start of services',
    repair: {
      does: `end or remove ${left.join(', ')}`,
      needsConsent: false,
      async run() {
        for (const folder of scratch) await rm(folder, { recursive: true, force: true })
        await askPrograms(config, env, 'remove')
      },
    },
  }
}

async function askPrograms(config: Config, env: Env, what: 'list' | 'remove'): Promise<string[]> {
  const left: string[] = []
  for (const program of programs) {
    const { stdout } = await run(process.execPath, [programFile(program), what], {
      env: { ...env, ASTRA_HOME: config.home },
      timeout: PROGRAM_MS,
    })
    left.push(...z.array(z.string()).parse(JSON.parse(stdout)))
  }
  return left
}
