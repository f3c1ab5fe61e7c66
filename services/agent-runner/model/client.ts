import OpenAI from 'openai'
import type {
  Response,
  ResponseCreateParamsNonStreaming,
} from 'openai/resources/responses/responses'

export type ModelFault = {
  final: boolean
  charged: boolean
  code: string
  message: string
  retry_after_ms: number | null
}

export type ModelReply = { ok: true; response: Response } | { ok: false; fault: ModelFault }

export type ModelClient = {
  /** One attempt; never retries by itself, because each attempt is paid for on its own. */
  respond(body: ResponseCreateParamsNonStreaming, signal: AbortSignal): Promise<ModelReply>
}

export function createModelClient(options: {
  baseURL: string
  apiKey: string
  timeoutMs: number
}): ModelClient {
  const client = new OpenAI({
    baseURL: options.baseURL,
    apiKey: options.apiKey,
    maxRetries: 0,
    timeout: options.timeoutMs,
    // Nothing of the environment is taken: an OPENAI_ORG_ID of another project would be charged.
    organization: null,
    project: null,
    webhookSecret: null,
  })
  return {
    async respond(body, signal) {
      try {
        const response = await client.responses.create(body, { signal })
        return { ok: true, response }
      } catch (error) {
        // The process is going down: the run is taken up elsewhere, so this is no fault of the model.
        signal.throwIfAborted()
        return { ok: false, fault: faultOf(error) }
      }
    },
  }
}

/** Codes that a repetition cannot help. */
const FINAL_CODES = new Set(['insufficient_quota', 'misalignment_policy_violation'])
const RETRIED_STATUS = new Set([408, 409, 429])

function faultOf(error: unknown): ModelFault {
  if (error instanceof OpenAI.APIConnectionTimeoutError) {
    return { ...unknownEnd, code: 'timeout', message: 'the model did not answer in time' }
  }
  if (error instanceof OpenAI.APIConnectionError) {
    return {
      ...unknownEnd,
      code: 'connection',
      message: `no connection to the model: ${causeOf(error)}`,
    }
  }
  if (error instanceof OpenAI.APIError && error.status !== undefined) {
    const code = error.code ?? `http_${error.status}`
    const retried = RETRIED_STATUS.has(error.status) || error.status >= 500
    return {
      final: !retried || FINAL_CODES.has(code),
      // A 4xx was turned away before any work; after a 5xx nobody knows.
      charged: error.status >= 500,
      code,
      message: error.message,
      retry_after_ms: retryAfterMs(error.headers),
    }
  }
  return {
    ...unknownEnd,
    code: 'malformed',
    message: `the answer could not be read: ${causeOf(error)}`,
  }
}

/** The request left and its end is not known: it may have been worked on and billed. */
const unknownEnd = { final: false, charged: true, retry_after_ms: null }

function retryAfterMs(headers: Headers | undefined): number | null {
  const milliseconds = Number(headers?.get('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(milliseconds)) return milliseconds
  const seconds = Number(headers?.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) ? seconds * 1000 : null
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}
