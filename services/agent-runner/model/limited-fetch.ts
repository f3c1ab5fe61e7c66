/** The largest answer that is read, in bytes: the whole output of a model is far below it. */
const MAX_BODY_BYTES = 32 * 1024 * 1024

export class RequestTimeout extends Error {}

/**
 * A fetch that ends: within `totalMs` whatever happens, and sooner when a body that has begun stops
 * coming for `idleMs`. The client's own limit ends with the headers, so a body that stalls would hold
 * a run for ever.
 */
export function limitedFetch(limits: { totalMs: number; idleMs: number }): typeof fetch {
  return async (input, init) => {
    const total = new AbortController()
    const timer = setTimeout(
      () => total.abort(new RequestTimeout(`no answer within ${limits.totalMs / 1000} s`)),
      limits.totalMs,
    )
    try {
      const given = init?.signal
      const signal = given ? AbortSignal.any([given, total.signal]) : total.signal
      const response = await fetch(input, { ...init, signal })
      if (!response.body) return response
      const body = await readAll(response.body, limits.idleMs)
      return new Response(body, { status: response.status, headers: response.headers })
    } finally {
      clearTimeout(timer)
    }
  }
}

async function readAll(
  body: ReadableStream<Uint8Array>,
  idleMs: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), idleMs)
      if (done) break
      size += value.length
      if (size > MAX_BODY_BYTES)
        throw new Error(`the answer is larger than ${MAX_BODY_BYTES} bytes`)
      chunks.push(value)
    }
  } catch (error) {
    void reader.cancel().catch(() => {})
    throw error
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new RequestTimeout(`the answer stopped for ${ms / 1000} s`)),
      ms,
    )
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
