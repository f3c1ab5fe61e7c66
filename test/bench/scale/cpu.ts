import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { Config } from '../../../shared/config.ts'
import { supervisorStatus } from '../../../shared/supervisor-client.ts'

/** Linux counts times of processes in hundredths of a second. */
const TICKS_PER_SECOND = 100

/** Seconds of CPU since some moment. */
export type CpuSeconds = {
  /** Of all that ran on this machine: what ran in a sandbox has no parent that it counts with. */
  machine: number
  services: Map<string, number>
}

/** What the processes of an installation, and this one, have used so far. */
export async function cpuSeconds(config: Config): Promise<CpuSeconds> {
  const status = await supervisorStatus(config)
  const services = new Map([['the one who asks', ticksOf(process.pid) / TICKS_PER_SECOND]])
  for (const { name, pid } of status?.processes ?? []) {
    const service = name.replace(/-\d+$/, '')
    const seconds = pid === null ? 0 : ticksOf(pid) / TICKS_PER_SECOND
    services.set(service, (services.get(service) ?? 0) + seconds)
  }
  const busy = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys, 0)
  return { machine: busy / 1000, services }
}

/** Cores that the machine and each service kept busy in the meantime, the busiest service first. */
export function coresBetween(before: CpuSeconds, after: CpuSeconds, seconds: number) {
  const services = [...after.services]
    .map(([service, used]) => {
      return { service, cores: (used - (before.services.get(service) ?? 0)) / seconds }
    })
    .sort((a, b) => b.cores - a.cores)
  return { machine: (after.machine - before.machine) / seconds, services }
}

/** utime, stime, cutime and cstime of proc(5). */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)
}
