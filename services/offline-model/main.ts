import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { httpAddress } from '../../shared/http-address.ts'
import { runService } from '../../shared/service.ts'
import { openResponsesStore } from './responses-store.ts'
import { createStandInServer } from './server.ts'
import { STAND_IN_NOTICE } from './stand-in.ts'

const MAX_RESPONSES = 4_000

await runService('offline-model', async ({ config, log }) => {
  // Node prints its warnings as plain text; this log is JSON lines.
  process.removeAllListeners('warning')
  process.on('warning', (warning) => log.debug({ err: warning }, 'node warning'))

  const store = await openResponsesStore(join(config.home, 'offline-model'), MAX_RESPONSES)
  const server = createStandInServer({ store, log, now: () => new Date() })
  server.listen(config.OFFLINE_MODEL_PORT, config.OFFLINE_MODEL_HOST)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  log.info({ port }, STAND_IN_NOTICE)

  return {
    announce: { offline_model_url: `${httpAddress(config.OFFLINE_MODEL_HOST, port)}/v1` },
    async close(deadlineMs) {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), deadlineMs)
      await closed
      clearTimeout(timer)
    },
  }
})
