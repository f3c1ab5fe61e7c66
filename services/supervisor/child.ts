import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { openLogFile } from '../../shared/log-file.ts'
import type { ProcessRegister } from './leftovers.ts'

export type ChildSpec = {
  name: string
  command: string
  args: string[]
  env: Record<string, string | undefined>
  /** A service ends when this channel closes; Redis does not know of one. */
  channel: boolean
  /** Resolves when the child can work; rejects when it ended before. */
  ready(child: ChildProcess): Promise<void>
}

/** The longest pause before a child that keeps ending is started again. */
const MAX_PAUSE_MS = 5_000
/** A child that worked this long was sound: its end is not held against it. */
const STEADY_MS = 10_000
/** How long a child may take to end after SIGTERM; services end themselves within 10 s. */
const STOP_MS = 12_000

/**
 * One child process that is started again whenever it ends. A child that ends before it was ready
 * for the first time is a fault of the set-up: `start` rejects and nothing is tried again.
 */
export class Child {
  readonly spec: ChildSpec
  readonly #deps: { logs: string; register: ProcessRegister; log: Logger }
  #process: ChildProcess | undefined
  #stopping = false
  #ready = false
  #restarts = 0
  /** Ends in a row that came soon after a start: these make the pauses longer. */
  #quickEnds = 0
  #readyAt = 0
  #timer: NodeJS.Timeout | undefined

  constructor(spec: ChildSpec, deps: { logs: string; register: ProcessRegister; log: Logger }) {
    this.spec = spec
    this.#deps = deps
  }

  get status() {
    const pid = this.#process?.pid ?? null
    return { name: this.spec.name, pid, ready: this.#ready, restarts: this.#restarts }
  }

  get logFile(): string {
    return join(this.#deps.logs, `${this.spec.name}.log`)
  }

  async start(): Promise<void> {
    const child = this.#spawn()
    await this.spec.ready(child)
    this.#ready = true
    this.#readyAt = Date.now()
    child.once('exit', () => this.#again())
    // It may have ended between its readiness and the line above.
    if (child.exitCode !== null || child.signalCode !== null) this.#again()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#timer)
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await ended
    clearTimeout(timer)
  }

  #spawn(): ChildProcess {
    const { spec } = this
    const output = openLogFile(this.#deps.logs, spec.name)
    const child = spawn(spec.command, spec.args, {
      stdio: ['ignore', output, output, ...(spec.channel ? (['ipc'] as const) : [])],
      env: spec.env,
      // Relative paths mean nothing to a service; the folder of the first client may be removed.
      cwd: '/',
    })
    closeSync(output)
    this.#process = child
    if (child.pid) this.#deps.register.add(spec.name, child.pid)
    child.once('exit', (code, signal) => {
      this.#ready = false
      this.#deps.register.delete(spec.name)
      this.#deps.log.info({ child: spec.name, code, signal }, 'child ended')
    })
    return child
  }

  #again(): void {
    if (this.#stopping || this.#timer) return
    this.#quickEnds = Date.now() - this.#readyAt > STEADY_MS ? 0 : this.#quickEnds + 1
    const pause = Math.min(50 * 2 ** this.#quickEnds, MAX_PAUSE_MS)
    this.#restarts += 1
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#stopping) return
      this.start().catch((error) => {
        this.#deps.log.error({ child: this.spec.name, err: error }, 'child did not start')
        this.#again()
      })
    }, pause)
  }
}

/** Waits for `done`, for the child's end, or for the deadline, whichever is first. */
export function whenReady(
  name: string,
  child: ChildProcess,
  deadlineMs: number,
  subscribe: (done: () => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${name} was not ready within ${deadlineMs / 1000} s`)),
      deadlineMs,
    )
    const settle = (action: () => void) => {
      clearTimeout(timer)
      action()
    }
    child.once('error', (error) => settle(() => reject(error)))
    child.once('exit', (code, signal) =>
      settle(() =>
        reject(new Error(`${name} ended with ${signal ?? `code ${code}`} while starting`)),
      ),
    )
    subscribe(() => settle(resolve))
  })
}
