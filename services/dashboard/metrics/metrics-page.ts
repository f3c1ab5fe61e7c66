import type { Context } from 'hono'
import type { Logger } from '../../../shared/logger.ts'
import { createMetrics } from './create-metrics.ts'
import type { MetricsDeps } from './source.ts'

/** GET /metrics. */
export const metricsPage = (deps: MetricsDeps & { log: Logger }) => {
  const metrics = createMetrics(deps)
  return async (c: Context): Promise<Response> =>
    c.body(await metrics.text(), 200, { 'Content-Type': metrics.contentType })
}
