import { Registry } from 'prom-client'
import { errorText } from '../../../shared/errors.ts'
import { countedSource } from './counted-source.ts'
import { ledgerSource } from './ledger-source.ts'
import { memorySource } from './memory-source.ts'
import { queueSource } from './queue-source.ts'
import { runSource } from './run-source.ts'
import { gauge, type MetricsDeps, type Source } from './source.ts'
import { workerSource } from './worker-source.ts'

export type Metrics = {
  /** All metrics as Prometheus reads them. */
  text(): Promise<string>
  contentType: string
}

/** How long a scrape may wait for one source; Prometheus itself waits 10 s. */
const SOURCE_MS = 5_000

/** Reads everything at a scrape. A source that cannot be read is told of, and holds no other up. */
export function createMetrics(deps: MetricsDeps): Metrics {
  const registry = new Registry()
  const sources: Source[] = [
    queueSource(registry, deps),
    workerSource(registry, deps),
    ledgerSource(registry, deps),
    runSource(registry, deps),
    memorySource(registry, deps),
    countedSource(registry, deps),
  ]
  const setFailed = gauge(registry, {
    name: 'astra_scrape_failed',
    help: '1 for a source that could not be read: its metrics are those of an earlier scrape.',
    labelNames: ['source'],
  })
  /** Two readers at once would count an ending run for both. */
  let current: Promise<string> | undefined

  async function read(): Promise<string> {
    const failed = await Promise.all(
      sources.map(async ({ name, refresh }) => {
        try {
          await within(refresh(), name)
          return false
        } catch (error) {
          deps.log.warn({ source: name, error: errorText(error) }, 'metrics not read')
          return true
        }
      }),
    )
    setFailed(sources.map(({ name }, i) => [{ source: name }, failed[i] ? 1 : 0]))
    return registry.metrics()
  }

  return {
    text() {
      current ??= read().finally(() => {
        current = undefined
      })
      return current
    },
    contentType: registry.contentType,
  }
}

async function within<T>(work: Promise<T>, name: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} took more than ${SOURCE_MS} ms`)), SOURCE_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
