import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Logger } from 'pino'
import { type Config, socketPath } from '../../shared/config.ts'
import type { ClientMessage, Scale } from '../../shared/contracts/supervisor.ts'
import { errorText } from '../../shared/errors.ts'
import { takeLock } from '../../shared/home-lock.ts'
import { putLargeLogsAside } from '../../shared/log-file.ts'
import { endRestore } from '../../shared/pending-restore.ts'
import { type Client, openControlSocket } from './control-socket.ts'
import { Fleet } from './fleet.ts'
import { endLeftovers, ProcessRegister } from './leftovers.ts'

/** How long the processes of a killed supervisor may take to end by themselves. */
const LEFTOVER_GRACE_MS = 3_000
/** A supervisor that nobody asks for within this time ends again. */
const FIRST_LEASE_MS = 15_000

/** How often logs are looked at that processes go on writing to. */
const TIDY_EVERY_MS = 60_000

type Env = Record<string, string | undefined>

/**
 * Runs one supervisor for `config.home` until its last lease ends or `signal` aborts. Returns
 * false at once when another one has the lock.
 */
export async function supervise(
  config: Config,
  env: Env,
  { log, sandbox }: { log: Logger; sandbox: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  const run = join(config.home, 'run')
  const control = socketPath(config.home, 'supervisor.sock', env)
  for (const folder of [config.home, run, dirname(control)]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }
  const lock = takeLock(join(run, 'supervisor.lock'))
  if (!lock) return false
  // Services must not see a mixture of two installations.
  if (endRestore(config.home)) log.warn('ended a restore that was cut off')

  const registerFile = join(run, 'processes.json')
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

/** Who needs the services. They stop after the last lease, and never under a living one. */
class Leases {
  readonly #fleet: Fleet
  readonly #sandbox: boolean
  readonly #held = new Set<Client>()
  readonly #leaving = new Set<Client>()
  readonly #started = new Date().toISOString()
  readonly over: Promise<void>
  #isOver = false
  #isReady = false
  #resolveOver: () => void = () => {}

  constructor(fleet: Fleet, sandbox: boolean) {
    this.#fleet = fleet
    this.#sandbox = sandbox
    this.over = new Promise((resolve) => {
      this.#resolveOver = resolve
    })
  }

  onMessage(client: Client, message: ClientMessage): void {
    if (message.type === 'scale') {
      void this.#scale(client, message.processes)
    } else if (message.type === 'status') {
      client.send({ type: 'status', status: this.#status() })
    } else if (message.type === 'hold') {
      if (this.#isOver) client.send({ type: 'stopping' })
      else this.#hold(client)
    } else {
      this.#release(client)
    }
  }

  onGone(client: Client): void {
    this.#leaving.delete(client)
    if (this.#held.delete(client)) this.endIfUnused()
  }

  progress(line: string): void {
    for (const client of this.#held) client.send({ type: 'progress', line })
  }

  ready(): void {
    this.#isReady = true
    for (const client of this.#held) client.send({ type: 'ready' })
  }

  endIfUnused(): void {
    if (this.#held.size === 0) this.end('no client is left')
  }

  /** Stops everything; clients that still hold a lease are told why. */
  end(why: string): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const client of this.#held) client.send({ type: 'failed', message: why })
    this.#resolveOver()
  }

  /** Tells those who released the last leases that everything has stopped. */
  finished(): void {
    for (const client of this.#leaving) client.send({ type: 'released', stopped: true })
  }

  #hold(client: Client): void {
    this.#held.add(client)
    if (this.#isReady) client.send({ type: 'ready' })
  }

  /** Others go on meanwhile; only who asked is told. */
  async #scale(client: Client, processes: Scale): Promise<void> {
    try {
      await this.#fleet.scale(processes, (line) => client.send({ type: 'progress', line }))
      client.send({ type: 'scaled' })
    } catch (error) {
      client.send({ type: 'failed', message: errorText(error) })
    }
  }

  #release(client: Client): void {
    this.#held.delete(client)
    if (this.#held.size > 0) {
      client.send({ type: 'released', stopped: false })
      return
    }
    this.#leaving.add(client)
    this.endIfUnused()
  }

  #status() {
    return {
      pid: process.pid,
      started_at: this.#started,
      leases: this.#held.size,
      sandbox: this.#sandbox,
      processes: this.#fleet.status,
    }
  }
}
