import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { Config } from '../../shared/config.ts'
import {
  type DashboardTicket,
  NO_AUTH_FLAG,
  ticketRequestSchema,
} from '../../shared/contracts/dashboard.ts'
import { ConfigError, UnavailableError } from '../../shared/errors.ts'
import { httpAddress } from '../../shared/http-address.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer } from '../../shared/queue/producer.ts'
import { secretsOf } from '../../shared/scrub/known-secrets.ts'
import { createScrubber } from '../../shared/scrub/scrubber.ts'
import { runService } from '../../shared/service.ts'
import { createApp } from './app.ts'
import { createLogin, type Login } from './security/login-required.ts'
import { isLoopback } from './security/origin.ts'
import { TICKET_MINUTES } from './security/tickets.ts'
import { readToken } from './security/token-file.ts'

/** Pages are quick; what is open longer is a stream, which its reader takes up again. */
const LAST_PAGES_MS = 500

await runService('dashboard', async ({ config, log }) => {
  const token = await tokenOf(config, process.argv)
  const redis = connectOrFail(config.redis)
  redis.on('error', (error) => log.debug({ err: error }, 'no connection to Redis'))
  const producer = createProducer(redis)
  const scrub = createScrubber([...secretsOf(config), ...(token === null ? [] : [token])])
  const now = () => new Date()
  const login = createLogin(token, now)
  const app = createApp({ redis, producer, config, log, scrub, now }, login)
  answerTicketRequests(login)

  const server = createAdaptorServer({ fetch: app.fetch }) as Server
  const port = await listen(server, config)

  return {
    announce: { dashboard_url: httpAddress(config.ASTRA_DASHBOARD_HOST, port) },
    async close(deadlineMs) {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      const last = Math.min(deadlineMs, LAST_PAGES_MS)
      const timer = setTimeout(() => server.closeAllConnections(), last)
      await closed
      clearTimeout(timer)
      await producer.close()
      redis.disconnect()
    },
  }
})

/** Whoever started this process may log in: it is asked for tickets over their channel, and no log has them. */
function answerTicketRequests(login: Login): void {
  process.on('message', (message) => {
    if (!ticketRequestSchema.safeParse(message).success) return
    const ticket = login.issueTicket()
    const answer: DashboardTicket = { type: 'ticket', ticket, minutes: TICKET_MINUTES }
    process.send?.(answer)
  })
}

/** The port. Throws UnavailableError that says what to choose instead. */
async function listen(server: Server, config: Config): Promise<number> {
  const { ASTRA_DASHBOARD_PORT: port, ASTRA_DASHBOARD_HOST: host } = config
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (cause) {
    throw new UnavailableError(`cannot listen at ${host}, port ${port}`, {
      hint: 'is a dashboard there already? --port or ASTRA_DASHBOARD_PORT takes another, 0 a free one',
      cause,
    })
  }
  return (server.address() as AddressInfo).port
}

/** Null: no login. Throws ConfigError where that would open the dashboard to other machines. */
async function tokenOf({ home, ASTRA_DASHBOARD_HOST: host }: Config, args: readonly string[]) {
  if (!args.includes(NO_AUTH_FLAG)) return readToken(home)
  if (isLoopback(host)) return null
  throw new ConfigError(
    `${NO_AUTH_FLAG} is for loopback addresses, and ASTRA_DASHBOARD_HOST is ${host}`,
    {
      hint: `leave ${NO_AUTH_FLAG} away, or ASTRA_DASHBOARD_HOST unset`,
    },
  )
}
