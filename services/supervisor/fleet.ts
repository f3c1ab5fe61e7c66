import { mkdir } from 'node:fs/promises'
import type { Logger } from 'pino'
import type { Config } from '../../shared/config.ts'
import {
  MAX_PROCESSES,
  SCALED_SERVICES,
  type Scale,
  type ScaledService,
  type SupervisorKind,
} from '../../shared/contracts/supervisor.ts'
import { UnavailableError } from '../../shared/errors.ts'
import { Child, type ChildSpec } from './child.ts'
import type { ProcessRegister } from './leftovers.ts'
import { redisChild } from './redis-child.ts'
import { type ServiceSpecs, serviceSpecs } from './service-specs.ts'

type Progress = (line: string) => void

type FleetDeps = {
  config: Config
  env: Record<string, string | undefined>
  log: Logger
  logs: string
  register: ProcessRegister
  /** False: tests run with the rights of the test-runner. */
  sandbox: boolean
  kind: SupervisorKind
}

/** All processes of one installation: Redis unless REDIS_URL names one, then the services. */
export class Fleet {
  readonly #deps: FleetDeps
  readonly #specs: ServiceSpecs
  /** By the names of their processes. */
  readonly #services = new Map<string, Child>()
  #redis: Child | undefined
  #stopped = false
  /** One change after the other. */
  #scaling: Promise<void> = Promise.resolve()

  constructor(deps: FleetDeps) {
    this.#deps = deps
    this.#specs = serviceSpecs(deps.config, deps.env, deps.sandbox)
  }

  get status() {
    const children = [...(this.#redis ? [this.#redis] : []), ...this.#services.values()]
    return children.map((child) => child.status)
  }

  async start(progress: Progress): Promise<void> {
    const { config, env } = this.#deps
    await mkdir(this.#deps.logs, { recursive: true, mode: 0o700 })
    // Its clients say which there are to be.
    if (this.#deps.kind === 'workers') return
    if ('path' in config.redis) {
      progress('starting Redis')
      const spec = await redisChild(config.home, config.redis.path, env)
      this.#redis = new Child(spec, this.#deps)
      await this.#start(this.#redis)
    }
    progress('starting the services')
    const { single, scaled } = this.#specs
    await Promise.all([
      this.#startService(scaled.embedder(1)),
      this.#startService(single['memory-store']),
      this.#startService(scaled['test-runner'](1)),
      this.#startService(single['offline-model']).then(() =>
        this.#startService(scaled['agent-runner'](1)),
      ),
    ])
    progress('all services are ready')
  }

  /**
   * Starts or stops processes until each named service has as many as asked for; one that is stopped
   * hands its jobs back. Throws UnavailableError when one does not start; those that did stay.
   */
  scale(processes: Scale, progress: Progress): Promise<void> {
    const scaled = this.#scaling.then(async () => {
      const changes = SCALED_SERVICES.map((service) => this.#scale(service, processes, progress))
      const failed = (await Promise.allSettled(changes)).find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
    })
    this.#scaling = scaled.catch(() => {})
    return scaled
  }

  /** Ends what runs and what is starting, Redis last. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all([...this.#services.values()].map((child) => child.stop()))
    await this.#redis?.stop()
  }

  async #scale(service: ScaledService, processes: Scale, progress: Progress): Promise<void> {
    const wanted = processes[service]
    if (wanted === undefined) return
    const specs = Array.from({ length: MAX_PROCESSES }, (_, n) =>
      this.#specs.scaled[service](n + 1),
    )
    const missing = specs.slice(0, wanted).filter(({ name }) => !this.#services.has(name))
    const surplus = specs.slice(wanted).filter(({ name }) => this.#services.has(name))
    if (missing.length + surplus.length > 0) progress(`${service}: ${wanted} from now on`)
    await Promise.all([
      ...missing.map((spec) => this.#startService(spec)),
      ...surplus.map(({ name }) => this.#stopService(name)),
    ])
  }

  async #startService(spec: ChildSpec): Promise<void> {
    const child = new Child(spec, this.#deps)
    this.#services.set(spec.name, child)
    try {
      await this.#start(child)
    } catch (error) {
      this.#services.delete(spec.name)
      throw error
    }
  }

  async #stopService(name: string): Promise<void> {
    await this.#services.get(name)?.stop()
    this.#services.delete(name)
  }

  async #start(child: Child): Promise<void> {
    if (this.#stopped) throw new UnavailableError('stopped while starting')
    try {
      await child.start()
    } catch (error) {
      // One that was not ready in time may still run.
      await child.stop()
      const why = error instanceof Error ? error.message : String(error)
      throw new UnavailableError(`${child.spec.name} did not start: ${why}; see ${child.logFile}`)
    }
  }
}
