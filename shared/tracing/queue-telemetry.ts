import type { Context } from '@opentelemetry/api'
import { type Span, SpanKind, type Telemetry, type Tracer } from 'bullmq'
import { BullMQOtel } from 'bullmq-otel'

/** What may be told of a job. Results, failures and data hold code and what tests printed. */
const told = new Set([
  'bullmq.queue.name',
  'bullmq.queue.operation',
  'bullmq.job.id',
  'bullmq.job.name',
  'bullmq.job.attempts.made',
])

/**
 * BullMQ's own spans for adding and processing jobs, without their contents, and without those of
 * its housekeeping (fetching, stalled checks), which would be most of all spans.
 */
export function createQueueTelemetry(version: string): Telemetry {
  const { tracer, contextManager } = new BullMQOtel({ tracerName: 'astra-queues', version })
  const quiet: Tracer<Context> = {
    startSpan: (name, options, parent) =>
      options?.kind === SpanKind.INTERNAL
        ? silentSpan
        : discreetSpan(tracer.startSpan(name, options, parent)),
  }
  return { tracer: quiet, contextManager }
}

const silentSpan: Span<Context> = {
  setSpanOnContext: (context) => context,
  setAttribute() {},
  setAttributes() {},
  addEvent() {},
  recordException() {},
  end() {},
}

function discreetSpan(span: Span<Context>): Span<Context> {
  return {
    setSpanOnContext: (context) => span.setSpanOnContext(context),
    setAttribute(key, value) {
      if (told.has(key)) span.setAttribute(key, value)
    },
    setAttributes(attributes) {
      const some = Object.entries(attributes).filter(([key]) => told.has(key))
      span.setAttributes(Object.fromEntries(some))
    },
    addEvent: (name) => span.addEvent(name),
    recordException() {},
    end: () => span.end(),
  }
}
