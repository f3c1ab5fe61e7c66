import { z } from 'zod'
import { runIdSchema } from './ids.ts'
import * as memory from './memory.ts'
import * as lifecycle from './memory-lifecycle.ts'
import * as transfer from './memory-transfer.ts'
import { runRequestSchema } from './run.ts'
import * as tests from './tests.ts'
import { encodedVectorSchema } from './vector.ts'

type ServiceName =
  | 'cli'
  | 'agent-runner'
  | 'test-runner'
  | 'memory-store'
  | 'embedder'
  | 'dashboard'

type JobSpec = {
  payload: z.ZodType
  result: z.ZodType
  /** Tries in all. Stalls (a killed worker) are not counted here. */
  attempts: number
  backoffMs: number
  producers: readonly ServiceName[]
}

type QueueSpec = { consumer: ServiceName; jobs: Record<string, JobSpec> }

const nothing = z.strictObject({})
const retried = { attempts: 3, backoffMs: 500 }
/** Jobs whose failure would lose something: they outlast a Redis that refuses for some seconds. */
const lasting = { attempts: 6, backoffMs: 500 }
const runId = z.strictObject({ run_id: runIdSchema })

/** Every queue and job of the system: this is the whole of what the processes say to each other. */
export const catalog = {
  runs: {
    consumer: 'agent-runner',
    jobs: {
      /** Begins a run. Shares its deduplication id with the run's wakes: one is active at a time. */
      start: { payload: runRequestSchema, result: nothing, ...lasting, producers: ['cli'] },
      /** Says that something may have arrived for a run; what, stands in its inbox. */
      wake: { payload: runId, result: nothing, ...lasting, producers: ['agent-runner'] },
      cancel: { payload: runId, result: nothing, ...lasting, producers: ['cli'] },
      /** Wakes the unfinished runs that have no wake waiting. */
      sweep: { payload: nothing, result: nothing, ...lasting, producers: ['agent-runner'] },
    },
  },
  'tool-results': {
    consumer: 'agent-runner',
    jobs: {
      /** Parent of the work of one call: puts its result into the run's inbox, then wakes the run. */
      deliver: {
        payload: z.strictObject({
          run_id: runIdSchema,
          call_id: z.string(),
          /** What was asked for; jobs of before did not say it. */
          work: z.enum(['baseline', 'tests', 'verify', 'search', 'store']).optional(),
        }),
        result: nothing,
        ...lasting,
        producers: ['agent-runner'],
      },
    },
  },
  tests: {
    consumer: 'test-runner',
    jobs: {
      baseline: {
        payload: tests.baselinePayloadSchema,
        result: tests.baselineResultSchema,
        ...retried,
        producers: ['agent-runner'],
      },
      run: {
        payload: tests.testRunPayloadSchema,
        result: tests.testRunResultSchema,
        ...retried,
        producers: ['agent-runner'],
      },
      verify: {
        payload: tests.verifyPayloadSchema,
        result: tests.verificationSchema,
        ...retried,
        producers: ['agent-runner', 'cli'],
      },
    },
  },
  memory: {
    consumer: 'memory-store',
    jobs: {
      search: {
        payload: memory.searchPayloadSchema,
        result: memory.searchResultSchema,
        ...retried,
        producers: ['agent-runner', 'cli', 'dashboard'],
      },
      store: {
        payload: memory.storePayloadSchema,
        result: memory.storeResultSchema,
        ...retried,
        producers: ['agent-runner', 'cli'],
      },
      get: {
        payload: memory.getPayloadSchema,
        result: memory.getResultSchema,
        ...retried,
        producers: ['cli', 'dashboard'],
      },
      list: {
        payload: memory.listPayloadSchema,
        result: memory.listResultSchema,
        ...retried,
        producers: ['cli', 'dashboard'],
      },
      /** Checks what some hundred records are proved by, from one place of the store on. */
      verify: {
        payload: memory.verifyPayloadSchema,
        result: memory.verifyResultSchema,
        ...retried,
        producers: ['cli', 'dashboard'],
      },
      delete: {
        payload: memory.deletePayloadSchema,
        result: memory.deleteResultSchema,
        ...retried,
        producers: ['cli'],
      },
      /** Takes records out of every search; `restore` takes that back. */
      revoke: {
        payload: lifecycle.revokePayloadSchema,
        result: lifecycle.revokeResultSchema,
        ...retried,
        producers: ['cli', 'dashboard'],
      },
      restore: {
        payload: lifecycle.restorePayloadSchema,
        result: lifecycle.restoreResultSchema,
        ...retried,
        producers: ['cli', 'dashboard'],
      },
      /** Lets one record stand for another, or takes that back. */
      supersede: {
        payload: lifecycle.supersedePayloadSchema,
        result: lifecycle.supersedeResultSchema,
        ...retried,
        producers: ['cli'],
      },
      'note-outcome': {
        payload: lifecycle.noteOutcomePayloadSchema,
        result: nothing,
        ...lasting,
        producers: ['agent-runner'],
      },
      /** A store that waits until the store is back, however long that takes. */
      'store-later': {
        payload: transfer.storeLaterPayloadSchema,
        result: memory.storeResultSchema,
        ...lasting,
        producers: ['memory-store'],
      },
      /** Some records with all they hold, from one place of the store on. */
      export: {
        payload: transfer.exportPayloadSchema,
        result: transfer.exportResultSchema,
        ...retried,
        producers: ['cli'],
      },
      /** Its `embed` child makes the vectors of those that come without: symptom and fix of each. */
      import: {
        payload: transfer.importPayloadSchema,
        result: transfer.importResultSchema,
        ...retried,
        producers: ['cli'],
      },
    },
  },
  embeddings: {
    consumer: 'embedder',
    jobs: {
      embed: {
        payload: z.strictObject({ texts: z.array(z.string()).min(1).max(64) }),
        result: z.strictObject({ vectors: z.array(encodedVectorSchema) }),
        ...retried,
        producers: ['agent-runner', 'cli', 'dashboard'],
      },
    },
  },
} as const satisfies Record<string, QueueSpec>

export type Catalog = typeof catalog
export type QueueName = keyof Catalog
export type JobName<Q extends QueueName> = keyof Catalog[Q]['jobs'] & string

type Spec<Q extends QueueName, J extends JobName<Q>> = Catalog[Q]['jobs'][J]
type SchemaOf<S, K extends 'payload' | 'result'> =
  S extends Record<K, infer Z extends z.ZodType> ? z.output<Z> : never

export type Payload<Q extends QueueName, J extends JobName<Q>> = SchemaOf<Spec<Q, J>, 'payload'>
export type Result<Q extends QueueName, J extends JobName<Q>> = SchemaOf<Spec<Q, J>, 'result'>

/** The catalog's entry for a job, or undefined when there is no such job on that queue. */
export function jobSpec(queue: QueueName, name: string): JobSpec | undefined {
  const jobs: Record<string, JobSpec> = catalog[queue].jobs
  return Object.hasOwn(jobs, name) ? jobs[name] : undefined
}
