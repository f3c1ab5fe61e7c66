import { mkdir } from 'node:fs/promises'
import type { Logger } from 'pino'
import { type Config, compileCache } from '../../shared/config.ts'
import { UNSAFE_FLAG } from '../../shared/contracts/supervisor.ts'
import { UnavailableError } from '../../shared/errors.ts'
import { Child, type ChildSpec } from './child.ts'
import type { ProcessRegister } from './leftovers.ts'
import { redisChild } from './redis-child.ts'
import { serviceChild } from './service-child.ts'

type Env = Record<string, string | undefined>
type Progress = (line: string) => void

type FleetDeps = {
  config: Config
  env: Env
  log: Logger
  logs: string
  register: ProcessRegister
  /** False: tests run with the rights of the test-runner. */
  sandbox: boolean
}

/** All processes of one installation: Redis unless REDIS_URL names one, then the services. */
export class Fleet {
  readonly #deps: FleetDeps
  readonly #services: Child[] = []
  #redis: Child | undefined
  #stopped = false
  #offlineModelUrl: string | undefined

  constructor(deps: FleetDeps) {
    this.#deps = deps
  }

  get status() {
    return [...(this.#redis ? [this.#redis] : []), ...this.#services].map((child) => child.status)
  }

  async start(progress: Progress): Promise<void> {
    const { config, env } = this.#deps
    await mkdir(this.#deps.logs, { recursive: true, mode: 0o700 })
    if ('path' in config.redis) {
      progress('starting Redis')
      const spec = await redisChild(config.home, config.redis.path, env)
      this.#redis = this.#child(spec)
      await this.#start(this.#redis)
    }
    progress('starting the services')
    const base: Env = {
      ...env,
      ASTRA_HOME: config.home,
      NODE_COMPILE_CACHE: compileCache(env),
    }
    // The agent-runner alone talks to the model service, so it alone is given the key.
    const keyless: Env = { ...base, OPENAI_API_KEY: '' }
    const testArgs = this.#deps.sandbox ? [] : [UNSAFE_FLAG]
    await Promise.all([
      this.#startService(serviceChild('embedder', keyless)),
      this.#startService(serviceChild('memory-store', keyless)),
      this.#startService(serviceChild('test-runner', keyless, undefined, testArgs)),
      this.#startModelAndAgent(base, keyless),
    ])
    progress('all services are ready')
  }

  /** Ends what runs and what is starting, Redis last. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#services.map((child) => child.stop()))
    await this.#redis?.stop()
  }

  /** The agent-runner needs the stand-in's address; the stand-in keeps its port over restarts. */
  async #startModelAndAgent(base: Env, keyless: Env): Promise<void> {
    const modelEnv = { ...keyless }
    const model = serviceChild('offline-model', modelEnv, ({ offline_model_url: url }) => {
      if (!url) return
      this.#offlineModelUrl = url
      modelEnv.OFFLINE_MODEL_PORT = new URL(url).port
    })
    await this.#startService(model)
    const agentEnv = { ...base, OFFLINE_MODEL_URL: this.#offlineModelUrl }
    await this.#startService(serviceChild('agent-runner', agentEnv))
  }

  async #startService(spec: ChildSpec): Promise<void> {
    const child = this.#child(spec)
    this.#services.push(child)
    await this.#start(child)
  }

  #child(spec: ChildSpec): Child {
    return new Child(spec, this.#deps)
  }

  async #start(child: Child): Promise<void> {
    if (this.#stopped) throw new UnavailableError('stopped while starting')
    try {
      await child.start()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new UnavailableError(`${child.spec.name} did not start: ${why}; see ${child.logFile}`)
    }
  }
}
