import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import { requestId } from 'hono/request-id'
import type { Deps } from './deps.ts'
import { errorPage, notFoundPage } from './errors.ts'
import { healthzPage } from './metrics/healthz-page.ts'
import { metricsPage } from './metrics/metrics-page.ts'
import { costsPage } from './pages/costs.ts'
import { fleetPage } from './pages/fleet.ts'
import { loginPage, postLogin, postLogout } from './pages/login.ts'
import { memoriesPage } from './pages/memories.ts'
import { memoryPage } from './pages/memory.ts'
import { memoryChangePage } from './pages/memory-change.ts'
import { memoryChangeWithdrawPage } from './pages/memory-change-withdraw.ts'
import { memoryRestorePage } from './pages/memory-restore.ts'
import { memoryRevokePage } from './pages/memory-revoke.ts'
import { memorySearchPage } from './pages/memory-search.ts'
import { QUEUES_PATH, queuesBoard } from './pages/queues.ts'
import { runPage } from './pages/run.ts'
import { runEventsPage } from './pages/run-events.ts'
import { runsPage } from './pages/runs.ts'
import { requireCsrfToken } from './security/csrf.ts'
import { boardHeaders, notStored, pageHeaders } from './security/headers.ts'
import type { Login } from './security/login-required.ts'
import { requireOwnHost, requireOwnOrigin } from './security/origin.ts'
import { staticFile } from './static-files.ts'

const MAX_FORM_BYTES = 64 * 1024

/** All routes in order: security first, so that no page can forget it. */
export function createApp(deps: Deps, login: Login): Hono {
  const app = new Hono()
  app.onError(errorPage(deps.log))
  app.notFound(notFoundPage)
  addSecurity(app, deps, login)

  app.get('/static/:name', staticFile)
  app.get('/login', loginPage(login))
  app.post('/login', postLogin(login))
  app.use(requireCsrfToken)
  app.post('/logout', postLogout(login))

  app.get('/healthz', healthzPage(deps))
  app.get('/metrics', metricsPage(deps))
  app.get('/', (c) => c.redirect('/runs', 303))
  app.get('/runs', runsPage(deps))
  app.get('/runs/:id', runPage(deps))
  app.get('/runs/:id/events', runEventsPage(deps))
  app.get('/memories', memoriesPage(deps))
  app.get('/memories/search', memorySearchPage(deps))
  app.post('/memories/search', memorySearchPage(deps))
  app.get('/memories/:id', memoryPage(deps))
  app.post('/memories/:id/revoke', memoryRevokePage(deps))
  app.post('/memories/:id/restore', memoryRestorePage(deps))
  app.get('/memories/:id/changes/:change', memoryChangePage(deps))
  app.post('/memories/:id/changes/:change/withdraw', memoryChangeWithdrawPage(deps))
  app.get('/costs', costsPage(deps))
  app.get('/fleet', fleetPage(deps))
  app.get(`${QUEUES_PATH}/`, (c) => c.redirect(QUEUES_PATH, 301))
  app.route(QUEUES_PATH, queuesBoard(deps))
  return app
}

function addSecurity(app: Hono, deps: Deps, login: Login): void {
  // An id that a client sends would let it write into our log and onto our page.
  app.use(requestId({ headerName: '' }))
  app.use(notStored)
  app.use((c, next) => (isBoard(c.req.path) ? boardHeaders : pageHeaders)(c, next))
  app.use(requireOwnHost(deps.config.ASTRA_DASHBOARD_HOST))
  app.use(async (c, next) => {
    if (!['GET', 'HEAD', 'POST'].includes(c.req.method)) {
      throw new HTTPException(405, { message: 'pages are read with GET, and few take a POST' })
    }
    await next()
  })
  app.use(requireOwnOrigin)
  app.use(
    bodyLimit({
      maxSize: MAX_FORM_BYTES,
      onError() {
        throw new HTTPException(413, { message: 'the form is larger than any of ours' })
      },
    }),
  )
  app.use(login.required)
}

const isBoard = (path: string) => path === QUEUES_PATH || path.startsWith(`${QUEUES_PATH}/`)
