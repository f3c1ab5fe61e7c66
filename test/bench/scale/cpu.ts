import { readFileSync } from 'node:fs'
import type { Config } from '../../../shared/config.ts'
import { supervisorStatus } from '../../../shared/supervisor-client.ts'

/** Linux counts times of processes in hundredths of a second. */
const TICKS_PER_SECOND = 100

/** Seconds of CPU by service since some moment; that of ended children counts with their parents. */
export type CpuSeconds = Map<string, number>

/** What the processes of an installation, and this one, have used so far. */
export async function cpuSeconds(config: Config): Promise<CpuSeconds> {
  const status = await supervisorStatus(config)
  const used: CpuSeconds = new Map([['the one who asks', ticksOf(process.pid) / TICKS_PER_SECOND]])
  for (const { name, pid } of status?.processes ?? []) {
    const service = name.replace(/-\d+$/, '')
    const seconds = pid === null ? 0 : ticksOf(pid) / TICKS_PER_SECOND
    used.set(service, (used.get(service) ?? 0) + seconds)
  }
  return used
}

/** Cores that each service kept busy in the meantime, the busiest first. */
export function coresBetween(before: CpuSeconds, after: CpuSeconds, seconds: number) {
  return [...after]
    .map(([service, used]) => ({ service, cores: (used - (before.get(service) ?? 0)) / seconds }))
    .sort((a, b) => b.cores - a.cores)
}

/** utime, stime, cutime and cstime of proc(5). */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)
}
