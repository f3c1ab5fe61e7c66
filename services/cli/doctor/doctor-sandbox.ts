import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Config } from '../../../shared/config.ts'
import { UNSAFE_FLAG } from '../../../shared/contracts/supervisor.ts'
import { programFile } from '../../../shared/program-file.ts'
import { findProgram } from '../../../shared/redis-server.ts'
import { supervisorStatus } from '../../../shared/supervisor-client.ts'
import type { Finding } from './check.ts'
import { installRepair } from './install-repair.ts'

const run = promisify(execFile)
const CHECK_MS = 20_000

/** The test-runner knows; a process of its own asks it, as services do not import each other. */
export async function examineSandbox(
  config: Config,
  env: Record<string, string | undefined>,
): Promise<Finding> {
  const program = programFile('services/test-runner/check-sandbox')
  const { stdout: problem } = await run(process.execPath, [program], {
    env: { ...env, ASTRA_HOME: config.home },
    timeout: CHECK_MS,
  })
  if (problem !== '') {
    const missing = process.platform === 'linux' && !findProgram(['bwrap'], env)
    const finding = { result: 'fail', found: 'no test will run', advice: problem } as const
    return { ...finding, ...(missing && installRepair('bubblewrap', env)) }
  }
  const found = 'bubblewrap works'
  const running = await supervisorStatus(config)
  if (!running || running.sandbox) return { result: 'ok', found, advice: null }
  const advice = `the services that run were started with ${UNSAFE_FLAG}: end them to use it`
  return { result: 'warn', found, advice }
}
