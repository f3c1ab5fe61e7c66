import type { Registry } from 'prom-client'
import { z } from 'zod'
import {
  type MetricName,
  metricCatalog,
  metricsKey,
  type Part,
} from '../../../shared/contracts/metrics.ts'
import { counter, type MetricsDeps, type Sample, type Source } from './source.ts'
import { type Parts, partSchema, storedHistogram } from './stored-histogram.ts'

const fieldSchema = z.tuple([z.string(), partSchema]).rest(z.string())

/** The parts of one metric, by its label values as JSON. */
type Series = Map<string, Map<Part, number>>

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

function shownAs(registry: Registry, name: MetricName): (series: Series) => void {
  const spec = metricCatalog[name]
  const labelNames = Object.keys(spec.labels)
  const labelsOf = (key: string): Record<string, string> => {
    const values = z.array(z.string()).parse(JSON.parse(key))
    return Object.fromEntries(labelNames.map((label, i) => [label, values[i] ?? '']))
  }
  if (spec.kind === 'counter') {
    const set = counter(registry, { name, help: spec.help, labelNames })
    const zeros = combinations(Object.values(spec.labels))
    return (series) =>
      set(
        [...new Set([...zeros.map((values) => JSON.stringify(values)), ...series.keys()])].map(
          (key): Sample<string> => [labelsOf(key), series.get(key)?.get('count') ?? 0],
        ),
      )
  }
  const { help, buckets } = spec
  const set = storedHistogram(registry, { name, help, labelNames, buckets })
  return (series) =>
    set([...series].map(([key, parts]): [Record<string, string>, Parts] => [labelsOf(key), parts]))
}

/**
 * All that counters can be labelled with. They are shown from the start: rules look at how a counter
 * grows, which can only be seen of what was shown before.
 */
function combinations(values: readonly (readonly string[])[]): string[][] {
  return values.reduce<string[][]>(
    (rows, each) => rows.flatMap((row) => each.map((value) => [...row, value])),
    [[]],
  )
}
