import { randomUUID } from 'node:crypto'
import type { Registry } from 'prom-client'
import { jobIdOf } from '../../../shared/contracts/ids.ts'
import { type MemoryState, memoryStateSchema } from '../../../shared/contracts/memory.ts'
import { AstraError } from '../../../shared/errors.ts'
import { ask } from '../../../shared/queue/ask.ts'
import { flowJob, type Producer } from '../../../shared/queue/producer.ts'
import { gauge, type MetricsDeps, type Sample, type Source } from './source.ts'

/** A scrape must not wait long for a store that is away. */
const ANSWER_MS = 2_000
/** Each question is a job: scrapes in between show the last answers. */
const KEEP_ANSWERS_MS = 30_000

export function memorySource(registry: Registry, { now, producer }: MetricsDeps): Source {
  const setUp = gauge(registry, {
    name: 'astra_memory_up',
    help: '1 when the memory answered within 2 s, else 0.',
    labelNames: [],
  })
  const setRecords = gauge(registry, {
    name: 'astra_memory_records',
    help: 'Records by the first that holds: revoked, superseded, expired, live.',
    labelNames: ['state'],
  })
  let askAgainAt = 0
  return {
    name: 'memory',
    async refresh() {
      if (now().getTime() < askAgainAt) return
      const counts = await countRecords(producer)
      askAgainAt = now().getTime() + KEEP_ANSWERS_MS
      setUp([[{}, counts === null ? 0 : 1]])
      setRecords(counts ?? [])
    },
  }
}

/** Null when the memory does not answer. All questions are awaited: none may be left lying. */
async function countRecords(producer: Producer): Promise<Sample<'state'>[] | null> {
  const states = memoryStateSchema.options
  const counts = await Promise.allSettled(states.map((state) => countOf(producer, state)))
  const samples: Sample<'state'>[] = []
  for (const [i, state] of states.entries()) {
    const count = counts[i]
    if (count?.status === 'fulfilled') samples.push([{ state }, count.value])
    else if (!(count?.reason instanceof AstraError)) throw count?.reason
  }
  return samples.length === states.length ? samples : null
}

/** The question goes with its answer, or without one: scrapes may neither pile up nor hide other jobs. */
async function countOf(producer: Producer, state: MemoryState): Promise<number> {
  const id = jobIdOf('list', randomUUID())
  const page = { limit: 1, offset: 0, session_id: null, state }
  const question = flowJob('memory', 'list', page, id)
  try {
    const asked = { ...question, queueName: 'memory', name: 'list' } as const
    return (await ask(producer, asked, { timeoutMs: ANSWER_MS })).total
  } finally {
    await producer.queue('memory').remove(id)
  }
}
