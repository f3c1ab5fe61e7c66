import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { HonoAdapter } from '@bull-board/hono'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { catalog, type QueueName } from '../../../shared/contracts/catalog.ts'
import type { Deps } from '../deps.ts'
import { cleaned, shortened } from '../queues/cleaned.ts'
import { ownBoardPage } from '../queues/own-board-page.ts'

export const QUEUES_PATH = '/queues'

const uiConfig = { boardTitle: 'Queues', hideDocsLink: true }

/** GET /queues and what is below it: bull-board, which here shows and changes nothing. */
export function queuesBoard(deps: Deps): Hono {
  const adapter = new HonoAdapter(serveStatic).setBasePath(QUEUES_PATH)
  createBullBoard({
    queues: (Object.keys(catalog) as QueueName[]).map((name) => readOnlyQueue(deps, name)),
    serverAdapter: adapter,
    options: { uiConfig },
  })
  const board = new Hono()
  board.use(async (c, next) => {
    // Its read-only mode answers 200 to writes, without an effect.
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      throw new HTTPException(405, { message: 'queues are shown here, not changed' })
    }
    await next()
    // Its own files are neither data nor ours to change.
    if (!c.req.path.startsWith(`${QUEUES_PATH}/static/`)) c.res = await safeResponse(c.res, deps)
  })
  board.route('/', adapter.registerPlugin())
  return board
}

function readOnlyQueue({ producer }: Deps, name: QueueName): BullMQAdapter {
  const adapter = new BullMQAdapter(producer.queue(name), {
    readOnlyMode: true,
    allowRetries: false,
    description: `taken by ${catalog[name].consumer}`,
  })
  adapter.setFormatter('data', shortened)
  adapter.setFormatter('returnValue', shortened)
  adapter.setFormatter('progress', shortened)
  return adapter
}

/** Shows our links, asks no other server for fonts, and shows no secret, wherever in a job or its errors it stands. */
async function safeResponse(response: Response, { scrub }: Deps): Promise<Response> {
  const type = response.headers.get('content-type') ?? ''
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  if (type.startsWith('text/html')) {
    const own = await ownBoardPage(await response.text())
    return new Response(own, { status: response.status, headers })
  }
  if (!type.startsWith('application/json')) return response
  const body = JSON.stringify(await cleaned(await response.json(), scrub))
  return new Response(body, { status: response.status, headers })
}
