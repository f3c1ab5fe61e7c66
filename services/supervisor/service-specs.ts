import { type Config, compileCache } from '../../shared/config.ts'
import { type ScaledService, UNSAFE_FLAG } from '../../shared/contracts/supervisor.ts'
import type { ChildSpec } from './child.ts'
import { serviceChild } from './service-child.ts'

type Env = Record<string, string | undefined>

/** How each service is started. */
export type ServiceSpecs = {
  single: Record<'memory-store' | 'offline-model', ChildSpec>
  /** The agent-runner needs the stand-in's address: the stand-in has to be ready before. */
  scaled: Record<ScaledService, (nth: number) => ChildSpec>
}

/** `sandbox` false: tests run with the rights of the test-runner. */
export function serviceSpecs(config: Config, env: Env, sandbox: boolean): ServiceSpecs {
  const base: Env = { ...env, ASTRA_HOME: config.home, NODE_COMPILE_CACHE: compileCache(env) }
  // The agent-runner alone talks to the model service, so it alone is given the key.
  const keyless: Env = { ...base, OPENAI_API_KEY: '' }
  const modelEnv = { ...keyless }
  const agentEnv = { ...base }
  const testArgs = sandbox ? [] : [UNSAFE_FLAG]
  return {
    single: {
      'memory-store': serviceChild('memory-store', keyless),
      'offline-model': serviceChild('offline-model', modelEnv, {
        onReady({ offline_model_url: url }) {
          if (!url) return
          agentEnv.OFFLINE_MODEL_URL = url
          // It keeps its port when it is started again.
          modelEnv.OFFLINE_MODEL_PORT = new URL(url).port
        },
      }),
    },
    scaled: {
      embedder: (nth) => serviceChild('embedder', keyless, { nth }),
      'test-runner': (nth) => serviceChild('test-runner', keyless, { nth, args: testArgs }),
      'agent-runner': (nth) => serviceChild('agent-runner', agentEnv, { nth }),
    },
  }
}
