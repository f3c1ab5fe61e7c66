import { KEY_PREFIX } from '../queue/connection.ts'

type CounterSpec = { kind: 'counter'; help: string; labels: readonly string[] }
type HistogramSpec = Omit<CounterSpec, 'kind'> & { kind: 'histogram'; buckets: readonly number[] }

const fromMilliseconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/**
 * What processes count as it happens; all else at `/metrics` is read from where it is kept. Values of
 * labels come from short lists that are known here: never an id, a path or a text.
 */
export const metricCatalog = {
  astra_job_duration_seconds: {
    kind: 'histogram',
    help: 'How long handlers worked on one try of a job, by what came of it.',
    labels: ['queue', 'job', 'outcome'],
    buckets: fromMilliseconds,
  },
  astra_job_wait_seconds: {
    kind: 'histogram',
    help: 'How long jobs without children waited for their first try, asked delays apart.',
    labels: ['queue', 'job'],
    buckets: fromMilliseconds,
  },
  astra_model_request_duration_seconds: {
    kind: 'histogram',
    help: 'How long attempts of model requests took, by mode and outcome.',
    labels: ['mode', 'outcome'],
    buckets: [0.05, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600],
  },
  astra_embedding_batch_texts: {
    kind: 'histogram',
    help: 'Texts in one embed job.',
    labels: [],
    buckets: [1, 2, 4, 8, 16, 32, 64],
  },
  astra_embedding_tokens_total: {
    kind: 'counter',
    help: 'Tokens that the embedding model read.',
    labels: [],
  },
  astra_sandbox_kills_total: {
    kind: 'counter',
    help: 'Test commands that were ended at a limit.',
    labels: ['limit'],
  },
} as const satisfies Record<`astra_${string}`, CounterSpec | HistogramSpec>

type Catalog = typeof metricCatalog
export type MetricName = keyof Catalog
export type CounterName = {
  [N in MetricName]: Catalog[N]['kind'] extends 'counter' ? N : never
}[MetricName]
export type HistogramName = Exclude<MetricName, CounterName>
export type Labels<N extends MetricName> = Record<Catalog[N]['labels'][number], string>

/** Hash: whole numbers by field, of all processes together since the first. */
export const metricsKey = `${KEY_PREFIX}:metrics`

/** Sums are kept in millionths: whole numbers can be added without loss. */
export const SUM_UNIT = 1e-6

/** The field of one part: `count`, or of a histogram `sum` and one for each bucket's upper bound. */
export function metricField<N extends MetricName>(
  name: N,
  labels: Labels<N>,
  part: 'count' | 'sum' | number,
): string {
  const values = metricCatalog[name].labels.map(
    (label) => (labels as Record<string, string>)[label],
  )
  return JSON.stringify([name, part, ...values])
}
