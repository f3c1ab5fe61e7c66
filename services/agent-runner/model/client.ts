import OpenAI from 'openai'
import type {
  Response,
  ResponseCreateParamsNonStreaming,
} from 'openai/resources/responses/responses'
import { faultOf, type ModelFault } from './faults.ts'
import { limitedFetch } from './limited-fetch.ts'

export type ModelReply = { ok: true; response: Response } | { ok: false; fault: ModelFault }

/** Each call is one attempt: nothing is repeated here, because each attempt is paid for on its own. */
export type ModelClient = {
  respond(body: ResponseCreateParamsNonStreaming, signal: AbortSignal): Promise<ModelReply>
  /** A response that works in the background, as far as it is. */
  retrieve(id: string, signal: AbortSignal): Promise<ModelReply>
  /** Ends a background response that nobody waits for any more. */
  cancel(id: string, signal: AbortSignal): Promise<ModelReply>
}

export function createModelClient(options: {
  baseURL: string
  apiKey: string
  timeoutMs: number
  idleMs: number
}): ModelClient {
  const client = new OpenAI({
    baseURL: options.baseURL,
    apiKey: options.apiKey,
    maxRetries: 0,
    timeout: options.timeoutMs,
    fetch: limitedFetch({ totalMs: options.timeoutMs, idleMs: options.idleMs }),
    // Nothing of the environment is taken: an OPENAI_ORG_ID of another project would be charged.
    organization: null,
    project: null,
    webhookSecret: null,
  })
  return {
    respond: (body, signal) => reply(client.responses.create(body, { signal }), signal),
    retrieve: (id, signal) => reply(client.responses.retrieve(id, {}, { signal }), signal),
    cancel: (id, signal) => reply(client.responses.cancel(id, { signal }), signal),
  }
}

async function reply(call: PromiseLike<Response>, signal: AbortSignal): Promise<ModelReply> {
  try {
    return { ok: true, response: await call }
  } catch (error) {
    // The process is going down: the run is taken up elsewhere, so this is no fault of the model.
    signal.throwIfAborted()
    return { ok: false, fault: faultOf(error) }
  }
}
