import { html } from 'hono/html'
import type { Html } from '../layout.ts'

/** One bar; its parts are stacked from the bottom in the order in which they are given. */
export type Bar = { label: string; parts: number[]; text: string }

type Chart = {
  /** What the chart shows, in words. */
  title: string
  bars: Bar[]
  /** Names of the parts, for the legend. */
  legend: string[]
  /** How the highest value is written beside the axis. */
  format: (value: number) => string
}

const WIDTH = 440
const HEIGHT = 150
const LEFT = 56
const BOTTOM = 22
const TOP = 10

/** Columns beside each other as SVG. Whoever cannot see it has the table beside it. */
export function barChart({ title, bars, legend, format }: Chart): Html {
  const sums = bars.map(({ parts }) => parts.reduce((sum, part) => sum + part, 0))
  const top = Math.max(0, ...sums)
  const inner = HEIGHT - TOP - BOTTOM
  const step = (WIDTH - LEFT) / Math.max(1, bars.length)
  const columns = bars.map((bar, i) => column(bar, LEFT + i * step, step, top, inner))
  const nth = Math.ceil(bars.length / 5)
  return html`<figure class="chart">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}: ${top === 0 ? 'nothing' : `at most ${format(top)}`}. The table has all values.">
<line class="chart-axis" x1="${LEFT}" y1="${HEIGHT - BOTTOM}" x2="${WIDTH}" y2="${HEIGHT - BOTTOM}"/>
<line class="chart-grid" x1="${LEFT}" y1="${TOP}" x2="${WIDTH}" y2="${TOP}"/>
<text class="chart-text" x="${LEFT - 6}" y="${TOP + 4}" text-anchor="end">${format(top)}</text>
<text class="chart-text" x="${LEFT - 6}" y="${HEIGHT - BOTTOM + 4}" text-anchor="end">${format(0)}</text>
${columns}
${bars.map((bar, i) =>
  i % nth === 0
    ? html`<text class="chart-text" x="${round(LEFT + i * step + step / 2)}" y="${HEIGHT - 6}" text-anchor="middle">${bar.label}</text>`
    : '',
)}
</svg>
<figcaption>${title}${legend.map(
    (name, i) =>
      html`<span class="chart-key"><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="chart-part-${i}" width="10" height="10" rx="2"/></svg>${name}</span>`,
  )}</figcaption>
</figure>`
}

function column(bar: Bar, x: number, step: number, top: number, inner: number): Html {
  const width = Math.min(step * 0.72, 48)
  const left = x + (step - width) / 2
  let y = HEIGHT - BOTTOM
  const parts = bar.parts.map((part, i) => {
    const height = top === 0 ? 0 : (part / top) * inner
    y -= height
    return part === 0
      ? ''
      : html`<rect class="chart-part-${i}" x="${round(left)}" y="${round(y)}" width="${round(width)}" height="${round(Math.max(height, 1))}"/>`
  })
  return html`<g><title>${bar.label}: ${bar.text}</title><rect class="chart-hover" x="${round(x)}" y="${TOP}" width="${round(step)}" height="${inner}"/>${parts}</g>`
}

const round = (value: number) => Math.round(value * 100) / 100
