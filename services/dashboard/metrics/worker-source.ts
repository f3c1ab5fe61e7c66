import type { Registry } from 'prom-client'
import { catalog, type QueueName } from '../../../shared/contracts/catalog.ts'
import { listHeartbeats } from '../../../shared/heartbeat.ts'
import { gauge, type MetricsDeps, type Source } from './source.ts'

const queues = Object.keys(catalog) as QueueName[]

export function workerSource(registry: Registry, { redis }: MetricsDeps): Source {
  const setProcesses = gauge(registry, {
    name: 'astra_processes',
    help: 'Service processes with a heartbeat.',
    labelNames: ['service', 'version'],
  })
  const perQueue = (name: string, help: string) =>
    gauge(registry, { name, help, labelNames: ['queue'] })
  const setWorkers = perQueue('astra_queue_workers', 'Processes that take jobs of the queue.')
  const setCapacity = perQueue('astra_queue_capacity', 'Jobs that these take at once, together.')
  const setInHand = perQueue(
    'astra_queue_in_hand',
    'Jobs that they had in hand at their last beat.',
  )
  return {
    name: 'workers',
    async refresh() {
      const beats = await listHeartbeats(redis)
      const processes = new Map<string, number>()
      for (const { service, version } of beats) {
        const key = JSON.stringify({ service, version })
        processes.set(key, (processes.get(key) ?? 0) + 1)
      }
      setProcesses([...processes].map(([key, value]) => [JSON.parse(key), value]))
      const workers = (queue: QueueName) => beats.flatMap((beat) => beat.queues[queue] ?? [])
      const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
      setWorkers(queues.map((queue) => [{ queue }, workers(queue).length]))
      setCapacity(
        queues.map((queue) => [{ queue }, sum(workers(queue).map((each) => each.concurrency))]),
      )
      setInHand(queues.map((queue) => [{ queue }, sum(workers(queue).map((each) => each.in_hand))]))
    },
  }
}
