import type { Redis } from 'ioredis'
import { catalog } from '../../../shared/contracts/catalog.ts'
import { errorText } from '../../../shared/errors.ts'
import { listHeartbeats } from '../../../shared/heartbeat.ts'

export type Health =
  | { ok: true; services: Record<string, number> }
  | { ok: false; redis: string | null; services: Record<string, number>; missing: string[] }

/** The services without which no run gets to its end: those that take jobs. */
const needed = [...new Set(Object.values(catalog).map(({ consumer }) => consumer))]

const REDIS_MS = 2_000

/** Whether Redis answers and each needed service is there; if not, what is missing. */
export async function readHealth(redis: Redis): Promise<Health> {
  try {
    const beats = await Promise.race([listHeartbeats(redis), tooLate()])
    const count = (service: string) => beats.filter((beat) => beat.service === service).length
    const services = Object.fromEntries(needed.map((service) => [service, count(service)]))
    const missing = needed.filter((service) => count(service) === 0)
    return missing.length === 0
      ? { ok: true, services }
      : { ok: false, redis: null, services, missing }
  } catch (error) {
    return { ok: false, redis: errorText(error), services: {}, missing: ['redis'] }
  }
}

function tooLate(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${REDIS_MS} ms`)), REDIS_MS).unref()
  })
}
