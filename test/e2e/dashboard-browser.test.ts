import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createJournalStore } from '../../services/agent-runner/journal/journal-store.ts'
import { productRoot } from '../../shared/config.ts'
import { type RunView, runEventsKey } from '../../shared/contracts/run-view.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { type Lease, supervisorStatus } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import {
  accessibilityFaults,
  type Look,
  launchBrowser,
  noBrowser,
  overflow,
  unexpected,
  type Visit,
  visit,
} from '../support/browser.ts'
import { startDashboardApp, TEST_TOKEN, type TestDashboard } from '../support/dashboard.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { sampleView } from '../support/run-view.ts'
import { runRequest } from '../support/simulated-run.ts'

const screenshots = join(productRoot, 'test-results', 'dashboard')
const looks: Look[] = [1280, 400].flatMap((width) =>
  (['light', 'dark'] as const).map((theme) => ({ width, theme })),
)
/** Both widths and both themes, where the four together would only take longer. */
const eachOnce = looks.filter(({ width, theme }) => (width === 1280) === (theme === 'light'))
const LIVE = 'run_in_progress'
const SYMPTOM =
  'AssertionError: the second configured origin may read the books: null is not https://admin.example'

let astra: Astra
let lease: Lease
let folder: string
let redis: Redis
let dashboard: TestDashboard
let browser: Browser
let fixed: RunView
/** Processes that stand still. */
const held = new Set<number>()
let services: NonNullable<Awaited<ReturnType<typeof supervisorStatus>>>['processes'] = []
let emptyRedis: TestRedis
let empty: TestDashboard

async function workspace(name: string): Promise<string> {
  const copy = join(folder, name)
  const template = join(productRoot, 'demo_projects/templates/typescript/scenario_alpha')
  await cp(template, copy, { recursive: true })
  return copy
}

/** Holds a run in its middle: the process that runs tests stands still after the first ones. */
async function beginRun(): Promise<void> {
  services = (await supervisorStatus(astra.config))?.processes ?? []
  const pid = pidOf('test-runner')
  const order = ['enqueue', await workspace('second'), '--offline', '--run-id', LIVE]
  const { code, stderr } = await astra.cli(order)
  expect(code, stderr).toBe(0)
  let cursor = '0'
  for (let tested = false; !tested; ) {
    const [stream] =
      (await redis.xread('BLOCK', 20_000, 'STREAMS', runEventsKey(LIVE), cursor)) ?? []
    if (!stream) throw new Error('the run in progress never ran its tests')
    for (const [id, fields] of stream[1]) {
      cursor = id
      tested ||= JSON.parse(fields[1] ?? '{}').details?.kind === 'tests'
    }
  }
  hold(pid)
}

async function logInByKeyboard({ page }: Visit): Promise<void> {
  await page.goto(`${dashboard.url}/runs`)
  const field = page.locator('#token:focus')
  await field.waitFor()
  await page.keyboard.type(TEST_TOKEN)
  expect(await field.inputValue(), 'what was typed').toBe(TEST_TOKEN)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
}

/** Everything that is wrong with one page in one look; leaves a screenshot. */
async function faultsOf(visitor: Visit, name: string, address: string, look: Look) {
  const { page } = visitor
  await page.goto(address)
  const isBoard = URL.parse(address)?.pathname.startsWith('/queues') ?? false
  if (isBoard) await page.locator('main h1, main h2, main section, main a').first().waitFor()
  return faultsOfShown(visitor, name, look, isBoard)
}

async function faultsOfShown({ page }: Visit, name: string, look: Look, isBoard = false) {
  const file = `${name}-${look.width}-${look.theme}.png`
  await page.screenshot({ path: join(screenshots, file), fullPage: true })
  // bull-board's page is not ours to mend; what is asked of it is that it works under its policy.
  if (isBoard) return []
  const wider = await overflow(page)
  const faults = [
    ...(wider > 0 ? [`${wider} px too wide`] : []),
    ...(await accessibilityFaults(page)),
  ]
  return faults.map((fault) => `${name}: ${fault}`)
}

function pages(): [name: string, path: string][] {
  return [
    ['runs', '/runs'],
    ['runs-none', '/runs?text=nothing-has-these-words'],
    ['run-live', `/runs/${LIVE}`],
    ['run-fixed', `/runs/${fixed.run_id}`],
    ['memories', '/memories'],
    ['memory', `/memories/${fixed.stored_memory_id}`],
    ['memory-search', '/memories/search?q=TypeError%3A+cannot+read+properties+of+undefined'],
    ['costs', '/costs'],
    ['fleet', '/fleet'],
    ['queues', '/queues'],
    ['queue', '/queues/queue/memory'],
    ['memories-none', '/memories?state=revoked'],
    ['memory-search-same', `/memories/search?${new URLSearchParams({ q: SYMPTOM })}`],
  ]
}

/** Of an installation in which nothing has happened and nothing runs. */
const emptyPages = [
  ['runs-empty', '/runs'],
  ['costs-empty', '/costs'],
  ['fleet-empty', '/fleet'],
  ['memories-away', '/memories'],
  ['not-found', '/nowhere'],
  ['run-unknown', '/runs/run-nobody'],
  ['memory-unknown', '/memories/00000000-0000-4000-8000-000000000000'],
  ['filter-refused', '/memories?state=unknown'],
] as const

/** Looks at what a form leads to: one without its token, and a log-in with a wrong one. */
async function faultsOfRefusals(visitor: Visit, look: Look): Promise<string[]> {
  const { page } = visitor
  await page.evaluate("document.querySelector('.logout input').value = 'of another session'")
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Refused' }).waitFor()
  const found = await faultsOfShown(visitor, 'form-refused', look)
  await visitor.context.clearCookies()
  await page.goto(`${empty.url}/login?ticket=spent`)
  found.push(...(await faultsOfShown(visitor, 'login-spent-link', look)))
  await page.locator('#token').fill('a wrong token')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByText('This is not the token').waitFor()
  return [...found, ...(await faultsOfShown(visitor, 'login-refused', look))]
}

function hold(pid: number): void {
  process.kill(pid, 'SIGSTOP')
  held.add(pid)
}

function letGo(pid: number): void {
  process.kill(pid, 'SIGCONT')
  held.delete(pid)
}

function pidOf(name: string): number {
  const pid = services.find((each) => each.name === name)?.pid
  if (!pid) throw new Error(`no ${name} runs`)
  return pid
}

const title = 'the dashboard in a real browser'
describe.skipIf(noBrowser !== null)(noBrowser === null ? title : `${title} (${noBrowser})`, () => {
  beforeAll(async () => {
    await mkdir(screenshots, { recursive: true })
    folder = await mkdtemp(join(tmpdir(), 'astra-browser-'))
    astra = await createAstra()
    lease = await astra.hold()
    redis = connectOrFail(astra.config.redis, { waitMs: 30_000 })
    const order = ['fix', await workspace('first'), '--offline', '--json']
    const { stdout, stderr } = await astra.cli(order)
    if (!stdout.trim()) throw new Error(stderr)
    fixed = JSON.parse(stdout)
    await beginRun()
    dashboard = await startDashboardApp(astra.config.redis, astra.home)
    emptyRedis = await startRedis()
    empty = await startDashboardApp(emptyRedis.address, join(folder, 'empty'))
    browser = await launchBrowser()
  }, 120_000)

  afterAll(async () => {
    for (const pid of held) letGo(pid)
    await browser?.close()
    await dashboard?.stop()
    await empty?.stop()
    await emptyRedis?.stop()
    redis?.disconnect()
    await lease?.release()
    await astra?.remove()
    await rm(folder, { recursive: true, force: true })
  }, 60_000)

  it('begins with a run that was fixed and stored', () => {
    expect(fixed.status).toBe('fixed')
    expect(fixed.stored_memory_id).not.toBeNull()
  })

  it('is entered by keyboard, and its content is one key away', async () => {
    const visitor = await visit(browser, { width: 1280, theme: 'light' })
    await logInByKeyboard(visitor)
    const { page } = visitor
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Skip')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    expect(visitor.problems).toEqual([])
    await visitor.context.close()
  }, 120_000)

  it.each(looks)(
    'shows every page at $width px in $theme, readable and without an error',
    async (look) => {
      const visitor = await visit(browser, look)
      const found = await faultsOf(visitor, 'login', `${dashboard.url}/login`, look)
      await visitor.page.goto(dashboard.loginLink())
      for (const [name, path] of pages()) {
        found.push(...(await faultsOf(visitor, name, dashboard.url + path, look)))
      }
      expect([...found, ...visitor.problems]).toEqual([])
      await visitor.context.close()
    },
    180_000,
  )

  it.each(eachOnce)(
    'says at $width px in $theme what is empty, unknown, refused or away',
    async (look) => {
      const visitor = await visit(browser, look)
      await visitor.page.goto(empty.loginLink())
      const found: string[] = []
      for (const [name, path] of emptyPages) {
        found.push(...(await faultsOf(visitor, name, empty.url + path, look)))
      }
      hold(emptyRedis.pid)
      found.push(...(await faultsOf(visitor, 'redis-away', `${empty.url}/runs`, look)))
      letGo(emptyRedis.pid)
      found.push(...(await faultsOfRefusals(visitor, look)))
      expect([...found, ...unexpected(visitor)]).toEqual([])
      await visitor.context.close()
    },
    180_000,
  )

  it.each(eachOnce)(
    'lets a revocation that waits be taken back, at $width px in $theme',
    async (look) => {
      const visitor = await visit(browser, look)
      const { page } = visitor
      await page.goto(dashboard.loginLink())
      await page.goto(`${dashboard.url}/memories/${fixed.stored_memory_id}`)
      hold(pidOf('memory-store'))
      await page.getByRole('checkbox').check()
      await page.getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('heading', { name: 'Queued' }).waitFor()
      const found = await faultsOfShown(visitor, 'memory-queued', look)
      await page.getByRole('button', { name: 'Take it back' }).click()
      await page.getByRole('heading', { name: 'Taken back' }).waitFor()
      letGo(pidOf('memory-store'))
      await page.getByRole('link', { name: 'To the memory' }).click()
      await page.getByRole('button', { name: 'Revoke' }).waitFor()
      expect([...found, ...visitor.problems]).toEqual([])
      await visitor.context.close()
    },
    120_000,
  )

  it.each(looks.filter(({ theme }) => theme === 'light'))(
    'leads from the board of queues to the other pages, at $width px',
    async (look) => {
      const visitor = await visit(browser, look)
      const { page } = visitor
      await page.goto(dashboard.loginLink())
      for (const path of ['/queues', '/queues/queue/memory']) {
        await page.goto(dashboard.url + path)
        const ways = page.getByRole('navigation', { name: 'Sections' })
        await ways.getByRole('link', { name: 'Memories' }).click()
        await page.getByRole('heading', { name: 'Memories', exact: true }).waitFor()
      }
      expect(visitor.problems).toEqual([])
      await visitor.context.close()
    },
    120_000,
  )

  it('goes on with a run after Redis was away, without being loaded again', async () => {
    const journal = createJournalStore(empty.deps.redis)
    const at = new Date().toISOString()
    const request = { ...runRequest, run_id: 'run-away' }
    const start = { at, request, model: 'test', settings: null, refusal: null }
    await journal.append('run-away', 'start', start, { type: 'started', text: 'begun' })
    const view = { run_id: 'run-away', status: 'running', reason: null, ended_at: null } as const
    await journal.publish(sampleView(view))
    const visitor = await visit(browser, { width: 1280, theme: 'light' })
    const { page } = visitor
    await page.goto(empty.loginLink())
    await page.goto(`${empty.url}/runs/run-away`)
    await page.getByText('Live.', { exact: true }).waitFor()
    hold(emptyRedis.pid)
    await page.getByText('Not live; the next try').waitFor()
    letGo(emptyRedis.pid)
    const note = { type: 'note', text: 'after the outage' } as const
    await journal.appendKeyed('run-away', 'output', 'call:x', { at, output: '' }, note)
    await page.getByText('after the outage').waitFor()
    expect(await page.locator('#timeline > li').count()).toBe(2)
    expect(unexpected(visitor)).toEqual([])
    await visitor.context.close()
  }, 150_000)

  it('follows a run to its end without being loaded again', async () => {
    const visitor = await visit(browser, { width: 1280, theme: 'light' })
    const { page } = visitor
    await page.goto(dashboard.loginLink())
    await page.goto(`${dashboard.url}/runs/${LIVE}`)
    const before = await page.locator('#timeline > li').count()
    const finalText = page.getByRole('heading', { name: 'Final text' })
    expect(await finalText.count()).toBe(0)
    await page.evaluate('window.sameDocument = true')
    letGo(pidOf('test-runner'))
    await page.locator('.event-ended').waitFor({ timeout: 50_000 })
    expect(await page.locator('#timeline > li').count()).toBeGreaterThan(before)
    await finalText.waitFor()
    expect(await page.evaluate('window.sameDocument')).toBe(true)
    expect(visitor.problems).toEqual([])
    await visitor.context.close()
  }, 90_000)
})
