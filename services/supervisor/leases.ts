import type { ClientMessage, Scale } from '../../shared/contracts/supervisor.ts'
import { errorText } from '../../shared/errors.ts'
import type { Client } from './control-socket.ts'
import type { Fleet } from './fleet.ts'

/** Who needs the services. They stop after the last lease, and never under a living one. */
export class Leases {
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
