import type { Telemetry } from 'bullmq'
import type { EndedRun, SpanAttributes, Tracing } from './tracing/tracing.ts'

/** Set once at the start of a process that traces. Without it everything below only does the work. */
let tracing: Tracing | undefined

/** Traces this process from now on when there is an endpoint; else not even the SDK is loaded. */
export async function startTracing(service: string, endpoint: string | undefined): Promise<void> {
  if (endpoint === undefined) return
  const { createTracing } = await import('./tracing/otel.ts')
  tracing = createTracing(service, endpoint)
}

/** Hands out what was not exported yet, as far as that goes in a short time. */
export async function stopTracing(): Promise<void> {
  await tracing?.shutdown()
}

export function span<T>(
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  return tracing ? tracing.span(name, attributes, work) : work()
}

/**
 * Does what concerns a job's run as part of that run's trace, whoever began it: a sweep, a timer or a
 * process that does not trace. A job of no run stays in the trace of what it was added by.
 */
export function inTraceOf<T>(payload: unknown, work: () => Promise<T>): Promise<T> {
  if (!tracing) return work()
  const runId = runIdOf(payload)
  return runId === null ? work() : tracing.inRun(runId, work)
}

/** The root of the run's trace, known by its id to all its other spans since the run began. */
export function traceEndedRun(run: EndedRun): void {
  tracing?.endRun(run)
}

export function queueTelemetry(): { telemetry?: Telemetry } {
  return tracing ? { telemetry: tracing.queueTelemetry } : {}
}

function runIdOf(payload: unknown): string | null {
  if (typeof payload !== 'object' || payload === null || !('run_id' in payload)) return null
  return typeof payload.run_id === 'string' ? payload.run_id : null
}
