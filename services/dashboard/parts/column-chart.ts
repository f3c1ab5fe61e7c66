import { html } from 'hono/html'
import type { Html } from '../layout.ts'
import { type Bar, type Chart, chartFigure, px, roundedUp, sumOf, WIDTH } from './chart.ts'

const HEIGHT = 160
const LEFT = 56
/** Half of the last label. */
const RIGHT = 20
const BOTTOM = 24
const TOP = 12
const INNER = HEIGHT - TOP - BOTTOM

/** Columns beside each other, for what follows in time. */
export function columnChart(chart: Chart & { tick: (value: number) => string }): Html {
  const { bars } = chart
  const top = roundedUp(Math.max(0, ...bars.map(sumOf)))
  const step = (WIDTH - LEFT - RIGHT) / Math.max(1, bars.length)
  const columns = bars.map((bar, i) => column(bar, LEFT + i * step, step, top))
  // Counted from the last one, which people look for.
  const nth = Math.ceil(bars.length / 5)
  const labels = bars.map(({ label }, i) =>
    (bars.length - 1 - i) % nth === 0
      ? html`<text class="chart-text" x="${px(LEFT + i * step + step / 2)}" y="${HEIGHT - 7}" text-anchor="middle">${label}</text>`
      : '',
  )
  const ticks = top === 0 ? [0] : [0, top / 2, top]
  return chartFigure(
    chart,
    HEIGHT,
    html`${ticks.map((value) => gridLine(value, top, chart.tick(value)))}${columns}${labels}`,
  )
}

function gridLine(value: number, top: number, text: string): Html {
  const y = px(top === 0 ? HEIGHT - BOTTOM : HEIGHT - BOTTOM - (value / top) * INNER)
  return html`<line class="${value === 0 ? 'chart-axis' : 'chart-grid'}" x1="${LEFT}" y1="${y}" x2="${WIDTH}" y2="${y}"/>
<text class="chart-text" x="${LEFT - 6}" y="${y + 4}" text-anchor="end">${text}</text>`
}

function column(bar: Bar, x: number, step: number, top: number): Html {
  const width = Math.min(step * 0.72, 48)
  const left = x + (step - width) / 2
  let y = HEIGHT - BOTTOM
  const parts = bar.parts.map((part, i) => {
    const height = top === 0 ? 0 : (part / top) * INNER
    y -= height
    return part === 0
      ? ''
      : html`<rect class="chart-part-${i}" x="${px(left)}" y="${px(y)}" width="${px(width)}" height="${px(Math.max(height, 1))}"/>`
  })
  return html`<g><title>${bar.label}: ${bar.text}</title><rect class="chart-hover" x="${px(x)}" y="${TOP}" width="${px(step)}" height="${INNER}"/>${parts}</g>`
}
