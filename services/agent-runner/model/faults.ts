import OpenAI from 'openai'
import { RequestTimeout } from './limited-fetch.ts'

/** Why an attempt brought no answer. */
export type ModelFault = {
  /** Repeating it cannot help. */
  final: boolean
  /** False when the service certainly did no work for it. */
  charged: boolean
  code: string
  message: string
  retry_after_ms: number | null
}

/** Codes that a repetition cannot help, whatever their status says. */
const FINAL_CODES = new Set(['insufficient_quota', 'misalignment_policy_violation'])
const RETRIED_STATUS = new Set([408, 409, 429])

export function faultOf(error: unknown): ModelFault {
  const causes = causesOf(error)
  const timeout = causes.find((each) => each instanceof RequestTimeout)
  if (timeout || error instanceof OpenAI.APIConnectionTimeoutError) {
    return { ...unknownEnd, code: 'timeout', message: timeout?.message ?? 'no answer in time' }
  }
  const last = causes.at(-1)
  const why = last instanceof Error ? last.message : String(last)
  if (error instanceof OpenAI.APIConnectionError) {
    // Nobody was there to take the request, so nobody worked on it.
    const refused = causes.some((each) => 'code' in each && each.code === 'ECONNREFUSED')
    return {
      ...unknownEnd,
      charged: !refused,
      code: 'connection',
      message: `no connection: ${why}`,
    }
  }
  if (error instanceof OpenAI.APIError && error.status !== undefined) {
    // Some servers write a number, whatever the client's types say.
    const code = String(error.code ?? `http_${error.status}`)
    const retried = RETRIED_STATUS.has(error.status) || error.status >= 500
    return {
      final: !retried || FINAL_CODES.has(code),
      // A 4xx was turned away before any work; after a 5xx nobody knows.
      charged: error.status >= 500,
      code,
      message: error.message,
      retry_after_ms: retryAfterMs(error.headers, Date.now()),
    }
  }
  return { ...unknownEnd, code: 'malformed', message: `the answer could not be read: ${why}` }
}

/** The request left and its end is not known: it may have been worked on and billed. */
const unknownEnd = { final: false, charged: true, retry_after_ms: null }

/** `retry-after` as milliseconds, seconds or an HTTP date (RFC 9110). */
function retryAfterMs(headers: Headers | undefined, now: number): number | null {
  const milliseconds = headers?.get('retry-after-ms')
  if (milliseconds && Number.isFinite(Number(milliseconds))) return Number(milliseconds)
  const after = headers?.get('retry-after')
  if (!after) return null
  if (Number.isFinite(Number(after))) return Number(after) * 1000
  const date = Date.parse(after)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let each = error; each instanceof Error && causes.length < 10; each = each.cause) {
    causes.push(each)
  }
  return causes
}
