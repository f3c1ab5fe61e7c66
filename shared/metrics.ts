import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import {
  type CounterName,
  type HistogramName,
  type Labels,
  type MetricName,
  metricCatalog,
  metricField,
  metricsKey,
  type Part,
  partsOf,
} from './contracts/metrics.ts'
import { errorText } from './errors.ts'
import type { Logger } from './logger.ts'
import { KEY_PREFIX } from './queue/connection.ts'

const FLUSH_EVERY_MS = 1_000
/** How long the number of a process's last flush is kept: longer than it would try one again. */
const KEEP_FLUSH_SECONDS = 24 * 3600

/** Field by field what was counted since the last flush. Bounded, because labels are. */
let pending = new Map<string, number>()

/** Counts something that happened. Only memory is touched: no job waits for it or fails of it. */
export function count<N extends CounterName>(name: N, labels: Labels<N>, by = 1): void {
  add(name, labels, 'count', by)
}

/** Puts one value (seconds, or what the metric's name says) into a histogram. */
export function observe<N extends HistogramName>(name: N, labels: Labels<N>, value: number): void {
  for (const [part, by] of partsOf(value, metricCatalog[name].buckets)) add(name, labels, part, by)
}

function add<N extends MetricName>(name: N, labels: Labels<N>, part: Part, by: number): void {
  const field = metricField(name, labels, part)
  pending.set(field, (pending.get(field) ?? 0) + by)
}

/**
 * Adds one flush of one process, once: when its answer was lost it comes again with the same number.
 * KEYS: counts, the process's last flush. ARGV: number of the flush, seconds to keep it, field, by, ...
 */
const ADD_ONCE = `
if redis.call('GET', KEYS[2]) == ARGV[1] then return 0 end
for i = 3, #ARGV, 2 do redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[2])
return 1
`

type Flush = { number: number; counts: ReadonlyMap<string, number> }

/**
 * Carries what this process counts into Redis, every second and at `stop`. While Redis is away it is
 * kept here; what a killed process counted in its last second is lost.
 */
export function startFlushing(redis: Redis, log: Logger): { stop(): Promise<void> } {
  const lastKey = `${KEY_PREFIX}:metrics:flush:${randomUUID()}`
  let number = 0
  /** Not known to have arrived. */
  let open: Flush | undefined
  let current: Promise<void> | undefined

  async function flush(): Promise<void> {
    if (!open) {
      if (pending.size === 0) return
      number += 1
      open = { number, counts: pending }
      pending = new Map()
    }
    const args = [...open.counts].flat()
    try {
      await redis.eval(ADD_ONCE, 2, metricsKey, lastKey, open.number, KEEP_FLUSH_SECONDS, ...args)
      open = undefined
    } catch (error) {
      log.debug({ error: errorText(error) }, 'counts not written yet')
    }
  }
  const next = () => {
    current ??= flush().finally(() => {
      current = undefined
    })
    return current
  }
  const timer = setInterval(next, FLUSH_EVERY_MS).unref()

  return {
    async stop() {
      clearInterval(timer)
      // What could not be written is tried once more, and what was counted meanwhile after it.
      await current
      await flush()
      if (!open) await flush()
    },
  }
}
