import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { isRedisFault } from '../../shared/queue/redis-fault.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'

let server: TestRedis
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error) => error,
  )

it('is a Redis that is full', async () => {
  const redis = connectOrFail(server.address)
  await redis.config('SET', 'maxmemory', '1')
  expect(isRedisFault(await errorOf(redis.set('key', 'value')))).toBe(true)
  await redis.config('SET', 'maxmemory', '0')
  redis.disconnect()
})

it('is a Redis that is not there, and a connection that was closed', async () => {
  const nowhere = connectOrFail({ path: '/nowhere/redis.sock' }, { waitMs: 200 })
  nowhere.on('error', () => {})
  expect(isRedisFault(await errorOf(nowhere.ping()))).toBe(true)
  nowhere.disconnect()
  const closed = connectOrFail(server.address)
  await closed.ping()
  closed.disconnect()
  expect(isRedisFault(await errorOf(closed.ping()))).toBe(true)
})

it('is not a command that is wrong, nor anything of our own', async () => {
  const redis = connectOrFail(server.address)
  await redis.set('text', 'value')
  expect(isRedisFault(await errorOf(redis.hget('text', 'field')))).toBe(false)
  expect(isRedisFault(new Error('OOM is a word'))).toBe(false)
  expect(isRedisFault('OOM command not allowed')).toBe(false)
  redis.disconnect()
})
