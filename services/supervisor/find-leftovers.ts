import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig, redisSocketPath, socketPath, withDotEnv } from '../../shared/config.ts'
import { takeLock } from '../../shared/home-lock.ts'
import { endLeftovers, leftProcesses } from './leftovers.ts'

/**
 * A program of its own, for `astra doctor`: what a supervisor that was killed left behind, as JSON.
 * With `remove` it is ended and removed. Where a supervisor runs, nothing is left.
 */
const GRACE_MS = 3_000

const env = withDotEnv(process.env)
const { home } = readConfig(env)
process.stdout.write(JSON.stringify(await leftovers(process.argv[2] === 'remove')))

async function leftovers(remove: boolean): Promise<string[]> {
  const lockFile = join(home, 'run', 'supervisor.lock')
  // None has ever run here.
  if (!existsSync(lockFile)) return []
  const lock = tryLock(lockFile)
  if (!lock) return []
  const register = join(home, 'run', 'processes.json')
  const pids = leftProcesses(register)
  const sockets = [socketPath(home, 'supervisor.sock', env), redisSocketPath(home, env)].filter(
    (path) => existsSync(path),
  )
  if (remove) {
    await endLeftovers(register, GRACE_MS)
    for (const path of sockets) rmSync(path, { force: true })
  }
  lock.release()
  return [...pids.map((pid) => `process ${pid} of a supervisor that died`), ...sockets]
}

/** Where it cannot even be tried, as on a disk that takes no writes, nothing could be removed. */
function tryLock(file: string): ReturnType<typeof takeLock> {
  try {
    return takeLock(file)
  } catch {
    return null
  }
}
