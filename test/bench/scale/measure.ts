import type { Scale } from '../../../shared/contracts/supervisor.ts'
import { holdSupervisor } from '../../../shared/supervisor-client.ts'
import type { Session } from '../../chaos/session.ts'
import { coresBetween, cpuSeconds } from './cpu.ts'

/** One way to run the same work. */
export type Setting = { label: string; processes: Scale }
export type Measured = Setting & {
  /** Units of work a second, one value a round. */
  rates: number[]
  /** Of the last round. */
  cores: ReturnType<typeof coresBetween>
}

/** Does the work under each setting in turn, round by round, so that a slow moment hits all of them. */
export async function measure(
  session: Session,
  settings: readonly Setting[],
  rounds: number,
  work: (round: string) => Promise<{ units: number }>,
): Promise<Measured[]> {
  const { config, env } = session.astra
  const measured = settings.map((setting): Measured => ({ ...setting, rates: [], cores: [] }))
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, each] of measured.entries()) {
      const lease = await holdSupervisor(config, { env, processes: each.processes })
      await lease.release()
      const before = await cpuSeconds(config)
      const started = performance.now()
      const { units } = await work(`${round}-${index}`)
      const seconds = (performance.now() - started) / 1000
      each.rates.push(units / seconds)
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
