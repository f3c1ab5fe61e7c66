import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { pino } from 'pino'
import { createApp } from '../../services/dashboard/app.ts'
import type { Deps } from '../../services/dashboard/deps.ts'
import { createLogin } from '../../services/dashboard/security/login-required.ts'
import { type Config, readConfig } from '../../shared/config.ts'
import { connectOrFail, type RedisAddress } from '../../shared/queue/connection.ts'
import { createProducer } from '../../shared/queue/producer.ts'
import { createScrubber } from '../../shared/scrub/scrubber.ts'

export const TEST_TOKEN = 'a-token-of-the-tests-own-1234567890-abcdefg'

export type TestDashboard = {
  url: string
  deps: Deps
  /** The address that `astra dashboard` prints. */
  loginLink(): string
  /** What a request of somebody who is logged in has to carry. */
  logIn(): Promise<{ cookie: string }>
  stop(): Promise<void>
}

type Options = { token?: string | null; config?: Partial<Config>; now?: () => Date }

/** The real app over real HTTP, on a free port of this process. */
export async function startDashboardApp(
  address: RedisAddress,
  home: string,
  { token = TEST_TOKEN, config = {}, now = () => new Date() }: Options = {},
): Promise<TestDashboard> {
  const redis = connectOrFail(address)
  redis.on('error', () => {})
  const producer = createProducer(redis)
  const deps: Deps = {
    redis,
    producer,
    config: { ...readConfig({ ASTRA_HOME: home }), redis: address, ...config },
    log: pino({ level: 'silent' }),
    scrub: createScrubber(token === null ? [] : [token]),
    now,
  }
  const login = createLogin(token, now)
  const server = createAdaptorServer({ fetch: createApp(deps, login).fetch }) as Server
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    deps,
    loginLink: () => `${url}/login?ticket=${login.issueTicket()}`,
    logIn: () => logIn(url, token ?? ''),
    async stop() {
      server.closeAllConnections()
      server.close()
      await producer.close()
      redis.disconnect()
    },
  }
}

async function logIn(url: string, token: string): Promise<{ cookie: string }> {
  const answer = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { origin: url },
    body: new URLSearchParams({ token }),
    redirect: 'manual',
  })
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  return { cookie }
}
