import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

const valueSchema = z.looseObject({
  stringValue: z.string().optional(),
  intValue: z.union([z.number(), z.string()]).optional(),
})
const attributesSchema = z
  .array(z.object({ key: z.string(), value: valueSchema }))
  .default([])
  .transform((list) =>
    Object.fromEntries(
      list.map(({ key, value }) => [
        key,
        value.stringValue ?? value.intValue ?? JSON.stringify(value),
      ]),
    ),
  )

const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: attributesSchema }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              startTimeUnixNano: z.string(),
              endTimeUnixNano: z.string(),
              attributes: attributesSchema,
            }),
          ),
        }),
      ),
    }),
  ),
})

export type ReceivedSpan = z.infer<
  typeof exportSchema
>['resourceSpans'][number]['scopeSpans'][number]['spans'][number] & { service: string }

export type OtlpReceiver = {
  endpoint: string
  spans: ReceivedSpan[]
  /** The bodies as they came. */
  bodies: string[]
  /** What is wrong with it from now on. Null: it takes what comes. */
  fault: 'answers 500' | 'never answers' | null
  /** How many exports it did not take. */
  refused: number
  close(): Promise<void>
}

/** A collector for OTLP over HTTP that keeps what it is sent. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (receiver.fault !== null) {
      receiver.refused += 1
      if (receiver.fault === 'answers 500') response.writeHead(500).end()
      return
    }
    bodies.push(body)
    for (const { resource, scopeSpans } of exportSchema.parse(JSON.parse(body)).resourceSpans) {
      const service = String(resource.attributes['service.name'])
      for (const scope of scopeSpans)
        spans.push(...scope.spans.map((span) => ({ ...span, service })))
    }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const receiver: OtlpReceiver = {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    fault: null,
    refused: 0,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}
