import { Histogram, type HistogramConfiguration, type Registry } from 'prom-client'
import { z } from 'zod'
import { type Part, SUM_UNIT } from '../../../shared/contracts/metrics.ts'

export const partSchema: z.ZodType<Part> = z.union([z.enum(['count', 'sum']), z.number()])

/** How often each part of one series was counted; the sum in millionths. */
export type Parts = ReadonlyMap<Part, number>

export type HistogramDescription = {
  name: string
  help: string
  labelNames: readonly string[]
  buckets: readonly number[]
}

/** A histogram that is kept elsewhere: its series are replaced together. */
export function storedHistogram(registry: Registry, description: HistogramDescription) {
  const { labelNames, buckets, ...told } = description
  const metric = new StoredHistogram({
    ...told,
    labelNames: [...labelNames],
    buckets: [...buckets],
    registers: [registry],
  })
  return (series: (readonly [labels: Record<string, string>, parts: Parts])[]) => {
    metric.values = series.flatMap(([labels, parts]) => linesOf(description, labels, parts))
  }
}

type Line = { metricName: string; labels: Record<string, string | number>; value: number }

/** Kept is each value in one bucket; Prometheus wants to know how many are at most the bound. */
function linesOf(
  { name, buckets }: HistogramDescription,
  labels: Record<string, string>,
  parts: Parts,
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
