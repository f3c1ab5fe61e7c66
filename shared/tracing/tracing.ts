import type { Telemetry } from 'bullmq'

/** Names, numbers and ids: never a prompt, code, a text of a test or a secret. */
export type SpanAttributes = Record<string, string | number | boolean>

export type Tracing = {
  /** For queues, workers and flows. */
  queueTelemetry: Telemetry
  span<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>
  inRun<T>(runId: string, work: () => Promise<T>): Promise<T>
  endRun(run: EndedRun): void
  shutdown(): Promise<void>
}

export type EndedRun = {
  runId: string
  startedAt: string
  endedAt: string
  attributes: SpanAttributes
}
