import type { Registry } from 'prom-client'
import { readQueueStates } from '../../../shared/queue/queue-state.ts'
import { gauge, type MetricsDeps, type Sample, type Source } from './source.ts'

const states = ['waiting', 'active', 'delayed', 'parents', 'completed', 'failed'] as const

export function queueSource(registry: Registry, { redis, now }: MetricsDeps): Source {
  const setJobs = gauge(registry, {
    name: 'astra_queue_jobs',
    help: 'Jobs by queue and state; ended ones are kept for a day.',
    labelNames: ['queue', 'state'],
  })
  const setAge = gauge(registry, {
    name: 'astra_queue_oldest_waiting_seconds',
    help: 'Age of the oldest job that waits for a worker; 0 when none waits.',
    labelNames: ['queue'],
  })
  return {
    name: 'queues',
    async refresh() {
      const queues = await readQueueStates(redis)
      setJobs(
        queues.flatMap((each) =>
          states.map(
            (state): Sample<'queue' | 'state'> => [{ queue: each.queue, state }, each[state]],
          ),
        ),
      )
      const age = (since: string | null) =>
        since === null ? 0 : Math.max(0, now().getTime() - Date.parse(since)) / 1000
      setAge(queues.map(({ queue, oldest_waiting_at }) => [{ queue }, age(oldest_waiting_at)]))
    },
  }
}
