import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Config, socketPath } from './config.ts'
import {
  type ClientMessage,
  jsonLines,
  type Scale,
  type SupervisorKind,
  type SupervisorMessage,
  type SupervisorStatus,
  supervisorMessageSchema,
  UNSAFE_FLAG,
  WORKERS_FLAG,
} from './contracts/supervisor.ts'
import { UnavailableError } from './errors.ts'
import { openLogFile } from './log-file.ts'
import { programFile } from './program-file.ts'

/** A first start loads the model and reads Redis' append-only file. */
const START_MS = 90_000
const STATUS_MS = 3_000
const RELEASE_MS = 30_000

/** A client's claim on the running services. */
export type Lease = {
  /** Gives the claim up. It was the last one: resolves when everything has stopped. */
  release(): Promise<void>
}

type Progress = (line: string) => void
type Env = Record<string, string | undefined>
/** What a new supervisor is started with; a running one keeps its own. */
type Start = { kind: SupervisorKind; env: Env; unsafe: boolean }
/** What has to be true of a held one. */
type Wish = Start & { processes: Scale }

/**
 * Starts the supervisor of this ASTRA_HOME if none runs, waits until all services are ready, and
 * holds them until `release`. When a supervisor dies under the lease, a new one is started. `env` and
 * `unsafeNoSandbox` are what a new one is started with; a running one keeps its own.
 * `kind` is which of this ASTRA_HOME's supervisors.
 * `processes` is how many processes of a service there are to be, whoever started them.
 * Throws UnavailableError when the services do not start.
 */
export async function holdSupervisor(
  config: Config,
  options: {
    kind?: SupervisorKind
    onProgress?: Progress
    env?: Env
    unsafeNoSandbox?: boolean
    processes?: Scale
  } = {},
): Promise<Lease> {
  const progress = options.onProgress ?? (() => {})
  const wish: Wish = {
    kind: options.kind ?? 'supervisor',
    env: options.env ?? process.env,
    unsafe: options.unsafeNoSandbox ?? false,
    processes: options.processes ?? {},
  }
  let released = false
  let socket = await hold(config, wish, progress)

  const watch = () => {
    socket.once('close', () => {
      if (released) return
      progress('the supervisor ended; starting another')
      hold(config, wish, progress).then(
        (next) => {
          socket = next
          if (released) socket.destroy()
          else watch()
        },
        (error) => progress(error.message),
      )
    })
  }
  watch()

  return {
    async release() {
      if (released) return
      released = true
      await releaseOn(socket)
    },
  }
}

/** The running supervisor's processes, or null when none runs. */
export async function supervisorStatus(
  config: Config,
  kind: SupervisorKind = 'supervisor',
): Promise<SupervisorStatus | null> {
  const socket = await open(config, kind)
  if (!socket) return null
  try {
    const answer = await exchange(socket, { type: 'status' }, STATUS_MS, (message) =>
      message.type === 'status' ? message.status : undefined,
    )
    return answer
  } finally {
    socket.destroy()
  }
}

/** One held connection whose supervisor said that everything is ready. */
async function hold(config: Config, wish: Wish, progress: Progress): Promise<Socket> {
  const deadline = Date.now() + START_MS
  let spawned: ChildProcess | undefined
  for (let pause = 20; Date.now() < deadline; pause = Math.min(pause * 2, 500)) {
    const socket = await open(config, wish.kind)
    if (socket) {
      const held = await tryHold(socket, deadline - Date.now(), progress)
      if (held && (await tryScale(socket, wish.processes, progress))) return socket
      socket.destroy()
    } else if (!spawned || spawned.exitCode !== null || spawned.signalCode !== null) {
      spawned = spawnSupervisor(config, wish)
    }
    await delay(pause)
  }
  throw new UnavailableError(`the services did not start within ${START_MS / 1000} s`, {
    hint: `their logs are in ${join(config.home, 'logs')}`,
  })
}

/** True when held and ready, false when that supervisor is on its way out. */
async function tryHold(socket: Socket, timeoutMs: number, progress: Progress): Promise<boolean> {
  try {
    return await exchange(socket, { type: 'hold' }, timeoutMs, (message) => {
      if (message.type === 'progress') progress(message.line)
      if (message.type === 'failed') throw new UnavailableError(message.message)
      if (message.type === 'stopping') return false
      return message.type === 'ready' ? true : undefined
    })
  } catch (error) {
    if (error instanceof ConnectionLost) return false
    throw error
  }
}

/** True when all that was asked for runs, false when that supervisor is on its way out. */
async function tryScale(socket: Socket, processes: Scale, progress: Progress): Promise<boolean> {
  if (Object.keys(processes).length === 0) return true
  try {
    return await exchange(socket, { type: 'scale', processes }, START_MS, (message) => {
      if (message.type === 'progress') progress(message.line)
      if (message.type === 'failed') throw new UnavailableError(message.message)
      return message.type === 'scaled' ? true : undefined
    })
  } catch (error) {
    if (error instanceof ConnectionLost) return false
    socket.destroy()
    throw error
  }
}

async function releaseOn(socket: Socket): Promise<void> {
  if (socket.destroyed) return
  const closed = new Promise((resolve) => socket.once('close', resolve))
  try {
    const stopped = await exchange(socket, { type: 'release' }, RELEASE_MS, (message) =>
      message.type === 'released' ? message.stopped : undefined,
    )
    // The supervisor itself is the last to go.
    if (stopped) await closed
  } catch (error) {
    // A supervisor that went away has stopped its services too, which is what was asked for.
    if (!(error instanceof ConnectionLost)) throw error
  } finally {
    socket.destroy()
  }
}

/** Several clients may do this at once: the lock lets one of the supervisors live. */
function spawnSupervisor(config: Config, { kind, env, unsafe }: Start): ChildProcess {
  const output = openLogFile(join(config.home, 'logs'), kind)
  const args = [...(unsafe ? [UNSAFE_FLAG] : []), ...(kind === 'workers' ? [WORKERS_FLAG] : [])]
  const child = spawn(process.execPath, [programFile('services/supervisor/main'), ...args], {
    // A session of its own: Ctrl-C in the client's terminal must not stop other clients' services.
    detached: true,
    stdio: ['ignore', output, output],
    cwd: '/',
    env: { ...env, ASTRA_HOME: config.home },
  })
  closeSync(output)
  child.unref()
  return child
}

function open(config: Config, kind: SupervisorKind): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath(config.home, `${kind}.sock`, process.env))
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(null))
  })
}

class ConnectionLost extends Error {}

/** Sends one message and waits until `pick` makes something of an answer. */
function exchange<T>(
  socket: Socket,
  message: ClientMessage,
  timeoutMs: number,
  pick: (message: SupervisorMessage) => T | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const finish = (action: () => void) => {
      clearTimeout(timer)
      socket.off('data', take)
      socket.off('close', lost)
      action()
    }
    const lost = () => finish(() => reject(new ConnectionLost('the supervisor went away')))
    const timer = setTimeout(
      () => finish(() => reject(new UnavailableError('the supervisor did not answer in time'))),
      timeoutMs,
    )
    const lines = jsonLines((value) => {
      const answer = pick(supervisorMessageSchema.parse(value))
      if (answer !== undefined) finish(() => resolve(answer))
    })
    const take = (chunk: string) => {
      try {
        lines(chunk)
      } catch (error) {
        finish(() => reject(error))
      }
    }
    socket.setEncoding('utf8')
    socket.on('data', take)
    socket.once('close', lost)
    socket.on('error', () => {})
    socket.write(`${JSON.stringify(message)}\n`)
  })
}
