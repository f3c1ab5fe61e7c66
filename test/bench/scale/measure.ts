import type { QueueName } from '../../../shared/contracts/catalog.ts'
import type { Scale } from '../../../shared/contracts/supervisor.ts'
import { holdSupervisor } from '../../../shared/supervisor-client.ts'
import type { Session } from '../../chaos/session.ts'
import { coresBetween, cpuSeconds } from './cpu.ts'
import { type QueueLoad, withQueueLoad } from './queue-load.ts'

/** One way to run the same work. */
export type Setting = { label: string; processes: Scale }
export type Measured = Setting & {
  /** Units of work a second, one value a round. */
  rates: number[]
  /** Both of the last round. */
  cores: ReturnType<typeof coresBetween>
  load: QueueLoad
}

/** What is measured: the work, and the queue that its jobs may wait in. */
export type Work = { queue: QueueName; run(round: string): Promise<{ units: number }> }

/** Does the work under each setting in turn, round by round, so that a slow moment hits all of them. */
export async function measure(
  session: Session,
  settings: readonly Setting[],
  rounds: number,
  { queue, run }: Work,
): Promise<Measured[]> {
  const { config, env } = session.astra
  const measured = settings.map(
    (setting): Measured => ({
      ...setting,
      rates: [],
      cores: { machine: 0, services: [] },
      load: { active: 0, waiting: 0 },
    }),
  )
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, each] of measured.entries()) {
      const lease = await holdSupervisor(config, { env, processes: each.processes })
      await lease.release()
      const before = await cpuSeconds(config)
      const started = performance.now()
      const { result, load } = await withQueueLoad(session, queue, () => run(`${round}-${index}`))
      const seconds = (performance.now() - started) / 1000
      each.rates.push(result.units / seconds)
      each.load = load
      each.cores = coresBetween(before, await cpuSeconds(config), seconds)
    }
  }
  return measured
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}
