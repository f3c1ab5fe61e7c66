export type StreamEvent = { event: string; id: string | null; data: string }

export type EventStream = {
  /** The next event that is one of these, or the end: null. Comments count as `comment`. */
  next(...names: string[]): Promise<StreamEvent | null>
  /** All that are left until the server ends the stream. */
  rest(): Promise<StreamEvent[]>
  close(): void
}

/** Reads Server-Sent Events as a browser does; each wait has a limit. */
export async function openEventStream(
  url: string,
  headers: Record<string, string>,
): Promise<EventStream> {
  const abort = new AbortController()
  const response = await fetch(url, { headers, signal: abort.signal })
  if (!response.ok || !response.body) throw new Error(`${response.status} of ${url}`)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let buffer = ''

  async function one(): Promise<StreamEvent | null> {
    for (;;) {
      const end = buffer.indexOf('\n\n')
      if (end >= 0) {
        const block = buffer.slice(0, end)
        buffer = buffer.slice(end + 2)
        return parseBlock(block)
      }
      const { done, value } = await limited(reader.read())
      if (done) return null
      buffer += value
    }
  }

  return {
    async next(...names) {
      for (;;) {
        const event = await one()
        if (event === null || names.includes(event.event)) return event
      }
    },
    async rest() {
      const events: StreamEvent[] = []
      for (let event = await one(); event !== null; event = await one()) events.push(event)
      return events
    },
    close: () => abort.abort(),
  }
}

function parseBlock(block: string): StreamEvent {
  const lines = block.split('\n')
  const values = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2))
  const comment = lines.every((line) => line.startsWith(':'))
  return {
    event: comment ? 'comment' : (values('event')[0] ?? 'message'),
    id: values('id')[0] ?? null,
    data: comment ? block : values('data').join('\n'),
  }
}

async function limited<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('nothing came for 60 s')), 60_000)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}
