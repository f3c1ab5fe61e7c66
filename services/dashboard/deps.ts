import type { Redis } from 'ioredis'
import type { Config } from '../../shared/config.ts'
import type { Logger } from '../../shared/logger.ts'
import type { Producer } from '../../shared/queue/producer.ts'
import type { Scrubber } from '../../shared/scrub/scrubber.ts'

/** What every page is made with. */
export type Deps = {
  /** Fails within seconds when Redis is away: a person waits for each page. */
  redis: Redis
  producer: Producer
  config: Config
  log: Logger
  scrub: Scrubber
  now(): Date
}
