import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Logger } from 'pino'
import { type Config, socketPath } from '../../shared/config.ts'
import type { SupervisorKind } from '../../shared/contracts/supervisor.ts'
import { errorText } from '../../shared/errors.ts'
import { takeLock } from '../../shared/home-lock.ts'
import { putLargeLogsAside } from '../../shared/log-file.ts'
import { endRestore } from '../../shared/pending-restore.ts'
import { openControlSocket } from './control-socket.ts'
import { Fleet } from './fleet.ts'
import { Leases } from './leases.ts'
import { endLeftovers, ProcessRegister } from './leftovers.ts'

/** How long the processes of a killed supervisor may take to end by themselves. */
const LEFTOVER_GRACE_MS = 3_000
/** A supervisor that nobody asks for within this time ends again. */
const FIRST_LEASE_MS = 15_000

/** How often logs are looked at that processes go on writing to. */
const TIDY_EVERY_MS = 60_000

type Env = Record<string, string | undefined>

/**
 * Runs one supervisor of its kind for `config.home` until its last lease ends or `signal` aborts. Returns
 * false at once when another one has the lock.
 */
export async function supervise(
  config: Config,
  env: Env,
  { log, sandbox, kind }: { log: Logger; sandbox: boolean; kind: SupervisorKind },
  signal: AbortSignal,
): Promise<boolean> {
  const run = join(config.home, 'run')
  const control = socketPath(config.home, `${kind}.sock`, env)
  for (const folder of [config.home, run, dirname(control)]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }
  const lock = takeLock(join(run, `${kind}.lock`))
  if (!lock) return false
  // Services must not see a mixture of two installations; workers refuse by themselves.
  if (kind === 'supervisor' && endRestore(config.home)) log.warn('ended a restore that was cut off')

  const registerFile = join(run, kind === 'supervisor' ? 'processes.json' : `${kind}.json`)
  const ended = await endLeftovers(registerFile, LEFTOVER_GRACE_MS)
  if (ended > 0) log.warn({ ended }, 'waited for processes of a supervisor that died')

  const logs = join(config.home, 'logs')
  const fleet = new Fleet({
    config,
    env,
    log,
    logs,
    register: new ProcessRegister(registerFile),
    sandbox,
    kind,
  })
  const leases = new Leases(fleet, sandbox)
  const server = await openControlSocket(control, leases)
  signal.addEventListener('abort', () => leases.end('the supervisor was stopped'))
  const timer = setTimeout(() => leases.endIfUnused(), FIRST_LEASE_MS)

  fleet
    .start((line) => leases.progress(line))
    .then(
      () => leases.ready(),
      (error) => leases.end(errorText(error)),
    )
  const tidying = setInterval(() => tidyLogs(logs, log), TIDY_EVERY_MS)
  await leases.over
  clearTimeout(timer)
  clearInterval(tidying)
  await fleet.stop()
  leases.finished()
  server.close()
  lock.release()
  return true
}

function tidyLogs(logs: string, log: Logger): void {
  try {
    putLargeLogsAside(logs)
  } catch (error) {
    // A full disk, mostly; the next time may do better, and nothing else depends on it.
    log.warn({ error: errorText(error) }, 'large logs were not put aside')
  }
}
