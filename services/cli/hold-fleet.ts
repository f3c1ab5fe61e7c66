import { hostname } from 'node:os'
import type { Redis } from 'ioredis'
import { catalog } from '../../shared/contracts/catalog.ts'
import { type Heartbeat, listHeartbeats } from '../../shared/heartbeat.ts'
import type { Lease } from '../../shared/supervisor-client.ts'

/** Who has to be there for a run: one process of each at least. */
const NEEDED = new Set(Object.values(catalog).map(({ consumer }) => consumer))

/** How often the fleet is looked at while a command uses it. */
const LOOK_EVERY_MS = 5_000

/** The services that a run needs and that no machine of the fleet has. */
export async function missingServices(redis: Redis): Promise<string[]> {
  const beats = await listHeartbeats(redis)
  const there = new Set(beats.filter(mayBeThere).map(({ service }) => service))
  return [...NEEDED].filter((service) => !there.has(service))
}

/** What was killed on this machine needs no time to count as gone. */
function mayBeThere({ host, pid }: Heartbeat): boolean {
  if (host !== hostname()) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Uses the fleet's own services as long as they are there. When one of them is missing later on, such
 * as after another person's command that had started it, those of this machine are started.
 */
export function holdFleet(redis: Redis, startOwn: (missing: string[]) => Promise<Lease>): Lease {
  let own: Promise<Lease> | undefined
  const look = async () => {
    const missing = own ? [] : await missingServices(redis).catch((): string[] => [])
    if (missing.length === 0 || own) return
    own = startOwn(missing)
    // Whoever waits for the run sees what becomes of it.
    own.catch(() => {
      own = undefined
    })
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  return {
    async release() {
      clearInterval(timer)
      const lease = await own?.catch(() => undefined)
      await lease?.release()
    },
  }
}
