import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDashboardApp, TEST_TOKEN, type TestDashboard } from '../support/dashboard.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'

let redis: TestRedis
let home: string
let dashboard: TestDashboard
let headers: { cookie: string }
beforeAll(async () => {
  redis = await startRedis()
  home = await mkdtemp(join(tmpdir(), 'astra-queues-'))
  dashboard = await startDashboardApp(redis.address, home)
  headers = await dashboard.logIn()
  const texts = [`token=${TEST_TOKEN}`, 'x'.repeat(900_000), 'plain words stay']
  const many = Array.from({ length: 50 }, (_, i) => `text number ${i}`)
  // An embeddings job may hold any text; nobody takes it here.
  await dashboard.deps.producer.add('embeddings', 'embed', { texts: [...texts, ...many] })
})
afterAll(async () => {
  await dashboard.stop()
  await redis.stop()
  await rm(home, { recursive: true, force: true })
})

const board = (path: string, init: RequestInit = {}) =>
  fetch(`${dashboard.url}/queues${path}`, { ...init, headers: { ...headers, ...init.headers } })

describe('the board of queues', () => {
  it('asks no other server for anything', async () => {
    for (const path of ['', '/queue/embeddings']) {
      const response = await board(path)
      expect(response.status).toBe(200)
      const page = await response.text()
      expect(page).toContain('<base href="/queues/"')
      expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
    }
  })

  it('leads to all other sections, above what it shows itself', async () => {
    const page = await (await board('')).text()
    const before = page.slice(0, page.indexOf('id="root"'))
    for (const section of ['runs', 'memories', 'costs', 'fleet']) {
      expect(before).toContain(`<a href="/${section}">`)
    }
    const style = /href="(\/static\/board\.css\?v=[^"]+)"/.exec(before)?.[1] ?? ''
    expect((await fetch(dashboard.url + style)).status).toBe(200)
  })

  it('shows jobs with their secrets taken out and their texts cut', async () => {
    const path = '/api/queues?activeQueue=embeddings&status=waiting&page=1&jobsPerPage=10'
    const text = await (await board(path)).text()
    expect(text).toContain('plain words stay')
    expect(text).toContain('[removed: known-secret]')
    expect(text).not.toContain(TEST_TOKEN)
    expect(text).toContain('… (cut)')
    expect(text).toMatch(/… and \d+ more/)
    expect(text.length).toBeLessThan(50_000)
  })

  it('hands out the files of its page as they are', async () => {
    const messages = await board('/static/locales/en-US/messages.json')
    expect(messages.status).toBe(200)
    expect(Number(messages.headers.get('content-length'))).toBeGreaterThan(1000)
    expect(Object.keys((await messages.json()) as object).length).toBeGreaterThan(5)
  })

  it.each(['PUT', 'PATCH', 'DELETE', 'POST'])(
    'takes no %s, and nothing changes',
    async (method) => {
      const origin = { origin: dashboard.url, 'sec-fetch-site': 'same-origin' }
      for (const path of ['/api/queues/embeddings/pause', '/api/queues/embeddings/empty']) {
        const { status } = await board(path, { method, headers: origin })
        expect([403, 405]).toContain(status)
      }
      const queue = dashboard.deps.producer.queue('embeddings')
      expect(await queue.isPaused()).toBe(false)
      expect(await queue.getWaitingCount()).toBe(1)
    },
  )
})
