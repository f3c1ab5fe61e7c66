import { z } from 'zod'

/** On the command line of the test-runner: tests run with its rights. No variable says so. */
export const UNSAFE_FLAG = '--unsafe-no-sandbox'

/** On the command line of a supervisor that starts nothing but what clients scale. */
export const WORKERS_FLAG = '--workers'

/**
 * One of each may run for an ASTRA_HOME. `supervisor`: Redis and all services. `workers`: more processes
 * for a fleet whose Redis and memory are on another machine.
 */
export type SupervisorKind = 'supervisor' | 'workers'

/** Services of which one machine may have several processes. */
export const SCALED_SERVICES = ['agent-runner', 'test-runner', 'embedder'] as const
export type ScaledService = (typeof SCALED_SERVICES)[number]

/** Of one service on one machine. */
export const MAX_PROCESSES = 64

/** How many processes of each there are to be; what is not named stays as it is. */
export const scaleSchema = z.partialRecord(
  z.enum(SCALED_SERVICES),
  z.number().int().min(1).max(MAX_PROCESSES),
)
export type Scale = z.infer<typeof scaleSchema>

/** What a client may say on the supervisor's socket: one JSON object a line. */
export const clientMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('hold') }),
  z.strictObject({ type: z.literal('release') }),
  z.strictObject({ type: z.literal('status') }),
  z.strictObject({ type: z.literal('scale'), processes: scaleSchema }),
])
export type ClientMessage = z.infer<typeof clientMessageSchema>

export const supervisorStatusSchema = z.strictObject({
  pid: z.number().int(),
  started_at: z.string(),
  leases: z.number().int(),
  /** False: the test-runner was started with `--unsafe-no-sandbox`. */
  sandbox: z.boolean(),
  processes: z.array(
    z.strictObject({
      name: z.string(),
      pid: z.number().int().nullable(),
      ready: z.boolean(),
      restarts: z.number().int(),
    }),
  ),
})
export type SupervisorStatus = z.infer<typeof supervisorStatusSchema>

/** What the supervisor answers. `stopping` means: ask again, it will be a new one. */
export const supervisorMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('progress'), line: z.string() }),
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({ type: z.literal('scaled') }),
  z.strictObject({ type: z.literal('failed'), message: z.string() }),
  z.strictObject({ type: z.literal('stopping') }),
  z.strictObject({ type: z.literal('released'), stopped: z.boolean() }),
  z.strictObject({ type: z.literal('status'), status: supervisorStatusSchema }),
])
export type SupervisorMessage = z.infer<typeof supervisorMessageSchema>

/** The first line that a service sends over its channel; further fields become the others' env. */
export const readyMessageSchema = z.object({
  type: z.literal('ready'),
  offline_model_url: z.string().optional(),
})
export type ReadyMessage = z.infer<typeof readyMessageSchema>

/** Splits a stream of JSON lines; a line that is no JSON throws SyntaxError. */
export function jsonLines(onValue: (value: unknown) => void): (chunk: string) => void {
  let rest = ''
  return (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') onValue(JSON.parse(line))
  }
}
