import { afterEach, expect, it, vi } from 'vitest'
import { connect } from '../../shared/queue/connection.ts'
import { createProducer } from '../../shared/queue/producer.ts'
import { startRedis } from '../support/redis.ts'

afterEach(() => vi.restoreAllMocks())

it('a producer whose Redis goes away prints nothing: its commands tell', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  const server = await startRedis()
  const redis = connect(server.address)
  const producer = createProducer(redis)
  await producer.queue('runs').getJobCounts()
  // Behind the queue's own listener, so whatever that prints has been printed.
  const failed = new Promise((resolve) => redis.once('error', resolve))
  await server.stop()
  await failed
  expect(printed).not.toHaveBeenCalled()
  redis.disconnect()
})
