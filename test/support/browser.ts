import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser']
const executablePath = PLACES.find((place) => existsSync(place))

/** Why browser tests are skipped; null where there is a browser. */
export const noBrowser =
  executablePath === undefined
    ? `no Chromium at ${PLACES[0]}; apt-get install chromium brings it`
    : null
if (noBrowser !== null) process.stderr.write(`skipped: ${noBrowser}\n`)

/** What runs in the page is text: this program knows no DOM. */
const TELL_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) => {
  window.noteViolation(event.violatedDirective + ' ' + event.blockedURI)
})`

export type Look = { width: number; theme: 'light' | 'dark' }

/** A page of a browser session of its own, and what went wrong on all pages that it showed. */
export type Visit = {
  page: Page
  context: BrowserContext
  /** Errors on the console, uncaught ones, failed requests, and what the policy stopped. */
  problems: string[]
}

export async function launchBrowser(): Promise<Browser> {
  if (!executablePath) throw new Error(noBrowser ?? '')
  // Chromium's own sandbox does not start as root; the pages are ours.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] })
}

export async function visit(browser: Browser, { width, theme }: Look): Promise<Visit> {
  const viewport = { width, height: 800 }
  const context = await browser.newContext({ viewport, colorScheme: theme })
  // A browser on a machine that has much else to do.
  context.setDefaultTimeout(45_000)
  const problems: string[] = []
  await context.exposeFunction('noteViolation', (text: string) => {
    problems.push(`policy: ${text}`)
  })
  await context.addInitScript(TELL_VIOLATIONS)
  const page = await context.newPage()
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()} at ${page.url()}`)
  })
  page.on('pageerror', (error) => problems.push(`uncaught: ${error.message} at ${page.url()}`))
  page.on('requestfailed', (request) => {
    // A page that is left takes its open stream with it.
    if (request.failure()?.errorText === 'net::ERR_ABORTED') return
    problems.push(`request: ${request.url()} ${request.failure()?.errorText}`)
  })
  return { page, context, problems }
}

/** What went wrong but for pages that are errors themselves, which browsers note as well. */
export function unexpected({ problems }: Visit): string[] {
  return problems.filter((each) => !/a status of (400|401|403|404|503) /.test(each))
}

/** By how many pixels the page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  const root = 'document.documentElement'
  return page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)
}

type AxeResult = {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[]
}

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** What axe-core finds against WCAG 2.2 A and AA: contrast, labels, names, structure. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Through the debugger, so that the policy of the page can stay as it is.
  await page.evaluate(await readFile(axeFile, 'utf8'))
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const options = JSON.stringify({ runOnly: { type: 'tag', values: tags } })
  const { violations } = await page.evaluate<AxeResult>(`axe.run(${options})`)
  return violations.map(
    ({ id, nodes: [first, ...others] }) =>
      `${id}: ${first?.html} ${first?.failureSummary?.replace(/\s+/g, ' ')} (and ${others.length} more)`,
  )
}
