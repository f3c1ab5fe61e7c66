import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
  type Visit,
  visit,
} from '../support/browser.ts'
import { startDashboardApp, TEST_TOKEN, type TestDashboard } from '../support/dashboard.ts'

const screenshots = join(productRoot, 'test-results', 'dashboard')
const looks: Look[] = [1280, 400].flatMap((width) =>
  (['light', 'dark'] as const).map((theme) => ({ width, theme })),
)
const LIVE = 'run_in_progress'

let astra: Astra
let lease: Lease
let folder: string
let redis: Redis
let dashboard: TestDashboard
let browser: Browser
let fixed: RunView
let testRunner = 0

async function workspace(name: string): Promise<string> {
  const copy = join(folder, name)
  const template = join(productRoot, 'demo_projects/templates/typescript/scenario_alpha')
  await cp(template, copy, { recursive: true })
  return copy
}

/** Holds a run in its middle: the process that runs tests stands still after the first ones. */
async function beginRun(): Promise<void> {
  const processes = (await supervisorStatus(astra.config))?.processes ?? []
  const pid = processes.find(({ name }) => name === 'test-runner')?.pid
  if (!pid) throw new Error('no test-runner runs')
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
  process.kill(pid, 'SIGSTOP')
  testRunner = pid
}

async function logInByKeyboard({ page }: Visit): Promise<void> {
  await page.goto(`${dashboard.url}/runs`)
  await page.locator('#token:focus').waitFor()
  await page.keyboard.type(TEST_TOKEN)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${dashboard.url}/runs`)
}

/** Everything that is wrong with one page in one look; leaves a screenshot. */
async function faultsOf({ page }: Visit, name: string, path: string, look: Look) {
  await page.goto(`${dashboard.url}${path}`)
  const isBoard = path.startsWith('/queues')
  if (isBoard) await page.locator('main h1, main h2, main section, main a').first().waitFor()
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
  ]
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
    browser = await launchBrowser()
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    await dashboard?.stop()
    redis?.disconnect()
    if (testRunner > 0) process.kill(testRunner, 'SIGCONT')
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
  })

  it.each(looks)(
    'shows every page at $width px in $theme, readable and without an error',
    async (look) => {
      const visitor = await visit(browser, look)
      const found = await faultsOf(visitor, 'login', '/login', look)
      await logInByKeyboard(visitor)
      for (const [name, path] of pages()) {
        found.push(...(await faultsOf(visitor, name, path, look)))
      }
      expect([...found, ...visitor.problems]).toEqual([])
      await visitor.context.close()
    },
    180_000,
  )

  it('follows a run to its end without being loaded again', async () => {
    const visitor = await visit(browser, { width: 1280, theme: 'light' })
    await logInByKeyboard(visitor)
    const { page } = visitor
    await page.goto(`${dashboard.url}/runs/${LIVE}`)
    const before = await page.locator('#timeline > li').count()
    const finalText = page.getByRole('heading', { name: 'Final text' })
    expect(await finalText.count()).toBe(0)
    await page.evaluate('window.sameDocument = true')
    process.kill(testRunner, 'SIGCONT')
    await page.locator('.event-ended').waitFor({ timeout: 50_000 })
    expect(await page.locator('#timeline > li').count()).toBeGreaterThan(before)
    await finalText.waitFor()
    expect(await page.evaluate('window.sameDocument')).toBe(true)
    expect(visitor.problems).toEqual([])
    await visitor.context.close()
  }, 90_000)
})
