import type { Context } from 'hono'
import { createMetrics } from './create-metrics.ts'
import type { MetricsDeps } from './source.ts'

/** GET /metrics. */
export const metricsPage = (deps: MetricsDeps) => {
  const metrics = createMetrics(deps)
  return async (c: Context): Promise<Response> =>
    c.body(await metrics.text(), 200, { 'Content-Type': metrics.contentType })
}
