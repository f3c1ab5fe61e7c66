import type { Context } from 'hono'
import { html } from 'hono/html'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { csrfField } from './security/csrf.ts'
import { assetUrl } from './static-files.ts'

/** A piece of HTML, its values escaped. */
export type Html = ReturnType<typeof html>

export type Section = 'runs' | 'memories' | 'costs' | 'fleet' | 'queues' | null

const SECTIONS = ['runs', 'memories', 'costs', 'fleet', 'queues'] as const
const NAMES = {
  runs: 'Runs',
  memories: 'Memories',
  costs: 'Costs',
  fleet: 'Fleet',
  queues: 'Queues',
}

type Page = {
  title: string
  section: Section
  body: Html
  /** Names in static/ that the page needs besides the style. */
  scripts?: readonly string[]
  status?: ContentfulStatusCode
}

/** A whole page around `body`. */
export function page(c: Context, { title, section, body, scripts = [], status }: Page) {
  const whole = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Astra</title>
<link rel="icon" href="${assetUrl('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetUrl('style.css')}">
${scripts.map((name) => html`<script type="module" src="${assetUrl(name)}"></script>`)}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="/">Astra <span>memory of proved fixes</span></a>
${c.get('csrfToken') ? navigation(c, section) : ''}
</header>
<main id="main" tabindex="-1">
${body}
</main>
</body>
</html>`
  return c.html(whole, status ?? 200)
}

/** The ways to all parts, on every page. */
export function sectionLinks(section: Section): Html {
  return html`<nav class="sections" aria-label="Sections">${SECTIONS.map(
    (each) =>
      html`<a href="/${each}"${each === section ? html` aria-current="page"` : ''}>${NAMES[each]}</a>`,
  )}</nav>`
}

function navigation(c: Context, section: Section): Html {
  return html`${sectionLinks(section)}
${c.get('signedIn') ? html`<form class="logout" method="post" action="/logout">${csrfField(c)}<button class="quiet">Log out</button></form>` : ''}`
}
