import { hostname } from 'node:os'
import {
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type TextMapPropagator,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { productVersion } from '../product-version.ts'
import { createQueueTelemetry } from './queue-telemetry.ts'
import { runTrace } from './run-trace.ts'
import type { EndedRun, SpanAttributes, Tracing } from './tracing.ts'

const EXPORT_EVERY_MS = 1_000
/** How long one export may take, and with it the last one before the process ends. */
const EXPORT_MS = 2_000
/** What is kept for a collector that is away or slow; what does not fit is dropped. */
const KEEP_SPANS = 2048
/** The name of the one span of a run that has no parent. */
const ROOT_NAME = 'run'

/** `endpoint`: the base address of a collector for OTLP over HTTP; spans go to its /v1/traces. */
export function createTracing(service: string, endpoint: string): Tracing {
  const version = productVersion()
  const ids = new RunIds()
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_MS,
  })
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: runsOnly }),
    idGenerator: ids,
    resource: resourceFromAttributes({
      'service.namespace': 'astra-codebase-memory',
      'service.name': service,
      'service.version': version,
      'host.name': hostname(),
      'process.pid': process.pid,
    }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: KEEP_SPANS,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_MS,
      }),
    ],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(traceparent)
  trace.setGlobalTracerProvider(provider)
  const tracer = trace.getTracer('astra', version)

  return {
    queueTelemetry: createQueueTelemetry(version),
    span: (name, attributes, work) =>
      tracer.startActiveSpan(name, { attributes }, (span) => traced(span, work)),
    inRun(runId, work) {
      const { traceId, spanId } = runTrace(runId)
      if (trace.getSpanContext(context.active())?.traceId === traceId) return work()
      const parent = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
      return context.with(trace.setSpanContext(ROOT_CONTEXT, parent), work)
    },
    endRun(run) {
      ids.withIds(runTrace(run.runId), () => startRoot(run).end(new Date(run.endedAt)))
    },
    async shutdown() {
      // A collector that is away costs its spans, and nothing else.
      await provider.shutdown().catch(() => undefined)
    },
  }

  function startRoot({ runId, startedAt, attributes }: EndedRun): Span {
    const startTime = new Date(startedAt)
    const told: SpanAttributes = { 'astra.run_id': runId, ...attributes }
    return tracer.startSpan(ROOT_NAME, { root: true, startTime, attributes: told })
  }
}

async function traced<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // A message may hold what a test or a model said.
    const message = error instanceof Error ? error.name : 'error'
    span.setStatus({ code: SpanStatusCode.ERROR, message })
    throw error
  } finally {
    span.end()
  }
}

/** Work that belongs to no run (sweeps, questions of people) would be a trace of its own each time. */
const runsOnly: Sampler = {
  shouldSample: (_context, _traceId, name) => ({
    decision:
      name === ROOT_NAME ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
  }),
  toString: () => 'runs only',
}

/** Random ids, but for the root of a run, whose ids were known before it. */
class RunIds implements IdGenerator {
  readonly #random = new RandomIdGenerator()
  #next: { traceId: string; spanId: string } | null = null

  withIds(ids: { traceId: string; spanId: string }, start: () => void): void {
    this.#next = ids
    try {
      start()
    } finally {
      this.#next = null
    }
  }

  generateTraceId = (): string => this.#next?.traceId ?? this.#random.generateTraceId()
  generateSpanId = (): string => this.#next?.spanId ?? this.#random.generateSpanId()
}

const HEADER = 'traceparent'
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** W3C trace context, as far as jobs need it. */
const traceparent: TextMapPropagator = {
  inject(from, carrier, setter) {
    const span = trace.getSpanContext(from)
    if (!span) return
    const flags = (span.traceFlags & 0xff).toString(16).padStart(2, '0')
    setter.set(carrier, HEADER, `00-${span.traceId}-${span.spanId}-${flags}`)
  },
  extract(into, carrier, getter) {
    const match = TRACEPARENT.exec(String(getter.get(carrier, HEADER) ?? ''))
    if (!match) return into
    const [, traceId = '', spanId = '', flags = '0'] = match
    const traceFlags = Number.parseInt(flags, 16)
    return trace.setSpanContext(into, { traceId, spanId, traceFlags, isRemote: true })
  },
  fields: () => [HEADER],
}
