import { Histogram, type HistogramConfiguration, type Registry } from 'prom-client'
import { z } from 'zod'
import {
  type MetricName,
  metricCatalog,
  metricsKey,
  SUM_UNIT,
} from '../../../shared/contracts/metrics.ts'
import { counter, type MetricsDeps, type Sample, type Source } from './source.ts'

const fieldSchema = z
  .tuple([z.string(), z.union([z.enum(['count', 'sum']), z.number()])])
  .rest(z.string())

/** The parts of one metric, by its label values as JSON. */
type Series = Map<string, Map<'count' | 'sum' | number, number>>

/** What all processes have counted together, as it stands in Redis. */
export function countedSource(registry: Registry, { redis }: MetricsDeps): Source {
  const names = Object.keys(metricCatalog) as MetricName[]
  const show = new Map(names.map((name) => [name, shownAs(registry, name)]))
  return {
    name: 'counted',
    async refresh() {
      const series = seriesOf(await redis.hgetall(metricsKey))
      for (const [name, set] of show) set(series.get(name) ?? new Map())
    },
  }
}

function seriesOf(fields: Record<string, string>): Map<string, Series> {
  const metrics = new Map<string, Series>()
  for (const [field, text] of Object.entries(fields)) {
    const [name, part, ...values] = fieldSchema.parse(JSON.parse(field))
    const series: Series = metrics.get(name) ?? new Map()
    metrics.set(name, series)
    const key = JSON.stringify(values)
    const parts = series.get(key) ?? new Map()
    series.set(key, parts)
    parts.set(part, Number(text))
  }
  return metrics
}

/** Rules look at how this grows, which can only be seen of what was shown before. */
const neverAbsent: Partial<Record<MetricName, string[][]>> = {
  astra_sandbox_kills_total: [['time'], ['output'], ['memory']],
  astra_embedding_tokens_total: [[]],
}

function shownAs(registry: Registry, name: MetricName): (series: Series) => void {
  const spec = metricCatalog[name]
  const labelNames: readonly string[] = spec.labels
  const labelsOf = (key: string): Record<string, string> => {
    const values = z.array(z.string()).parse(JSON.parse(key))
    return Object.fromEntries(labelNames.map((label, i) => [label, values[i] ?? '']))
  }
  if (spec.kind === 'counter') {
    const set = counter(registry, { name, help: spec.help, labelNames })
    const zeros = (neverAbsent[name] ?? []).map((values) => JSON.stringify(values))
    return (series) =>
      set(
        [...new Set([...zeros, ...series.keys()])].map(
          (key): Sample<string> => [labelsOf(key), series.get(key)?.get('count') ?? 0],
        ),
      )
  }
  const { help, buckets } = spec
  const histogram = new StoredHistogram({
    name,
    help,
    labelNames: [...labelNames],
    buckets: [...buckets],
    registers: [registry],
  })
  return (series) => {
    histogram.values = [...series].flatMap(([key, parts]) =>
      linesOf(name, buckets, labelsOf(key), parts),
    )
  }
}

type Line = { metricName: string; labels: Record<string, string | number>; value: number }

/** Redis has each value in one bucket; Prometheus wants to know how many are at most the bound. */
function linesOf(
  name: string,
  buckets: readonly number[],
  labels: Record<string, string>,
  parts: ReadonlyMap<'count' | 'sum' | number, number>,
): Line[] {
  const count = parts.get('count') ?? 0
  const upTo = (bound: number) =>
    [...parts].reduce(
      (total, [part, n]) => (typeof part === 'number' && part <= bound ? total + n : total),
      0,
    )
  const bucket = (le: number | string, value: number): Line => ({
    metricName: `${name}_bucket`,
    labels: { le, ...labels },
    value,
  })
  return [
    ...buckets.map((bound) => bucket(bound, upTo(bound))),
    bucket('+Inf', count),
    { metricName: `${name}_sum`, labels, value: (parts.get('sum') ?? 0) * SUM_UNIT },
    { metricName: `${name}_count`, labels, value: count },
  ]
}

/** The library's histograms can only be observed into; this one shows what others observed. */
class StoredHistogram extends Histogram<string> {
  values: Line[] = []
  readonly #told: { name: string; help: string }

  constructor(description: HistogramConfiguration<string>) {
    super(description)
    this.#told = { name: description.name, help: description.help }
  }

  /** What the registry asks for, in place of `get`. */
  async getForPromString() {
    return { ...this.#told, type: 'histogram', aggregator: 'sum', values: this.values }
  }
}
