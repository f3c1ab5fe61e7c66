import { Counter, Gauge, type Registry } from 'prom-client'
import type { Deps } from '../deps.ts'

export type MetricsDeps = Pick<Deps, 'redis' | 'producer' | 'config' | 'log' | 'now'>

/** One place that metrics are read from at a scrape. Its metrics change only once all is read. */
export type Source = { name: string; refresh(): Promise<void> }

export type Sample<L extends string> = [labels: Record<L, string>, value: number]

type Description<L extends string> = { name: string; help: string; labelNames: readonly L[] }

/** A gauge whose samples are replaced together, so that what is gone is not shown any more. */
export function gauge<L extends string>(registry: Registry, description: Description<L>) {
  const metric = new Gauge({ ...description, registers: [registry] })
  return (samples: Sample<L>[]) => {
    metric.reset()
    for (const [labels, value] of samples) metric.set(labels, value)
  }
}

/** A counter that is counted elsewhere: it is shown as it stands there. */
export function counter<L extends string>(registry: Registry, description: Description<L>) {
  const metric = new Counter({ ...description, registers: [registry] })
  return (samples: Sample<L>[]) => {
    metric.reset()
    for (const [labels, value] of samples) metric.inc(labels, value)
  }
}
