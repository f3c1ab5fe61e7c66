import { KEY_PREFIX } from '../queue/connection.ts'
import { catalog, type QueueName } from './catalog.ts'
import { runModeSchema } from './run.ts'

/** Every value that a label can have, by label. */
type LabelValues = Readonly<Record<string, readonly string[]>>
type CounterSpec = { kind: 'counter'; help: string; labels: LabelValues }
type HistogramSpec = Omit<CounterSpec, 'kind'> & { kind: 'histogram'; buckets: readonly number[] }

const queue = Object.keys(catalog) as QueueName[]
/** A name that is in no catalog came from outside: it may not become a label. */
const job = [...Object.values(catalog).flatMap(({ jobs }) => Object.keys(jobs)), 'unknown']
const mode = runModeSchema.options

/** What came of one try of a job. `retried`: it failed and has tries left. */
export const jobOutcomes = [
  'completed',
  'retried',
  'failed',
  'cancelled',
  'postponed',
  'handed_back',
] as const

const fromMilliseconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/**
 * What processes count as it happens; all else at `/metrics` is read from where it is kept. Labels
 * have the values that stand here and no others: never an id, a path or a text.
 */
export const metricCatalog = {
  astra_job_duration_seconds: {
    kind: 'histogram',
    help: 'How long handlers worked on one try of a job, by what came of it.',
    labels: { queue, job, outcome: jobOutcomes },
    buckets: fromMilliseconds,
  },
  astra_job_wait_seconds: {
    kind: 'histogram',
    help: 'How long jobs without children waited for their first try, asked delays apart.',
    labels: { queue, job },
    buckets: fromMilliseconds,
  },
  astra_job_retries_total: {
    kind: 'counter',
    help: 'Tries of jobs that failed and are followed by another.',
    labels: { queue },
  },
  astra_job_postponements_total: {
    kind: 'counter',
    help: 'Jobs put off because what they need is away, each time; it costs them no try.',
    labels: { queue },
  },
  astra_model_request_duration_seconds: {
    kind: 'histogram',
    help: 'How long attempts of model requests took, by mode and outcome.',
    labels: { mode, outcome: ['answered', 'fault'] },
    buckets: [0.05, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600],
  },
  astra_embedding_batch_texts: {
    kind: 'histogram',
    help: 'Texts in one embed job.',
    labels: {},
    buckets: [1, 2, 4, 8, 16, 32, 64],
  },
  astra_embedding_tokens_total: {
    kind: 'counter',
    help: 'Tokens that the embedding model read.',
    labels: {},
  },
  astra_sandbox_kills_total: {
    kind: 'counter',
    help: 'Test commands that were ended at a limit.',
    labels: { limit: ['time', 'output', 'memory'] },
  },
} as const satisfies Record<`astra_${string}`, CounterSpec | HistogramSpec>

type Catalog = typeof metricCatalog
export type MetricName = keyof Catalog
export type CounterName = {
  [N in MetricName]: Catalog[N]['kind'] extends 'counter' ? N : never
}[MetricName]
export type HistogramName = Exclude<MetricName, CounterName>
export type Labels<N extends MetricName> = {
  [L in keyof Catalog[N]['labels']]: Catalog[N]['labels'][L] extends readonly (infer V)[]
    ? V
    : never
}

/** Hash: whole numbers by field, of all processes together since the first. */
export const metricsKey = `${KEY_PREFIX}:metrics`

/** Sums are kept in millionths: whole numbers can be added without loss. */
export const SUM_UNIT = 1e-6

/** `count`, or of a histogram also `sum`, and its buckets by their upper bounds. */
export type Part = 'count' | 'sum' | number

/** What one value adds to a histogram. Each value is in one bucket, or above all of them. */
export function partsOf(value: number, buckets: readonly number[]): [Part, number][] {
  const bound = buckets.find((each) => value <= each)
  const inBucket: [Part, number][] = bound === undefined ? [] : [[bound, 1]]
  return [...inBucket, ['count', 1], ['sum', Math.round(value / SUM_UNIT)]]
}

/** The field of one part. */
export function metricField<N extends MetricName>(name: N, labels: Labels<N>, part: Part): string {
  const values = Object.keys(metricCatalog[name].labels).map(
    (label) => (labels as Record<string, string>)[label],
  )
  return JSON.stringify([name, part, ...values])
}
