import { html } from 'hono/html'
import type { Html } from '../layout.ts'
import { type Bar, type Chart, chartFigure, px, sumOf, WIDTH } from './chart.ts'

const ROW = 38
const BAR = 11
/** Where a row's text stands; its bar is below. */
const BASELINE = 14

/** Rows below each other, for what has a name: the whole name stands above its bar. */
export function rowChart(chart: Chart): Html {
  const most = Math.max(0, ...chart.bars.map(sumOf))
  const rows = chart.bars.map((bar, i) => row(bar, i * ROW, most))
  return chartFigure(chart, chart.bars.length * ROW, html`${rows}`)
}

function row(bar: Bar, y: number, most: number): Html {
  let x = 0
  const parts = bar.parts.map((part, i) => {
    const width = most === 0 ? 0 : (part / most) * WIDTH
    const left = x
    x += width
    return part === 0
      ? ''
      : html`<rect class="chart-part-${i}" x="${px(left)}" y="${y + BASELINE + 5}" width="${px(Math.max(width, 1))}" height="${BAR}"/>`
  })
  return html`<g><title>${bar.label}: ${bar.text}</title>
<text class="chart-text chart-name" x="0" y="${y + BASELINE}">${bar.label}</text>
<text class="chart-text" x="${WIDTH}" y="${y + BASELINE}" text-anchor="end">${bar.text}</text>
<rect class="chart-rail" x="0" y="${y + BASELINE + 5}" width="${WIDTH}" height="${BAR}"/>${parts}</g>`
}
