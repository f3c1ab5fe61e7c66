import { html } from 'hono/html'
import type { Html } from '../layout.ts'

/** One bar; its parts follow each other from the axis in the order in which they are given. */
export type Bar = { label: string; parts: number[]; text: string }

export type Chart = {
  /** What the chart shows, in words. */
  title: string
  bars: Bar[]
  /** Names of the parts, for the legend. */
  legend: string[]
  /** How a value is written. */
  format: (value: number) => string
}

export const WIDTH = 440

export const sumOf = ({ parts }: Bar) => parts.reduce((sum, part) => sum + part, 0)

/** The drawing with its legend. Whoever cannot see it has the table beside it. */
export function chartFigure({ title, bars, legend, format }: Chart, height: number, drawn: Html) {
  const most = Math.max(0, ...bars.map(sumOf))
  return html`<figure class="chart">
<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}: ${most === 0 ? 'nothing' : `at most ${format(most)}`}. The table has all values.">
${drawn}
</svg>
<figcaption>${title} ${legend.map(
    (name, i) =>
      html`<span class="chart-key"><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="chart-part-${i}" width="10" height="10" rx="2"/></svg>${name}</span> `,
  )}</figcaption>
</figure>`
}

/** The next round number, for the end of an axis: 1, 2, 3, 4, 5, 6 or 8 of a power of ten. */
export function roundedUp(value: number): number {
  if (value <= 0) return 0
  const unit = 10 ** Math.floor(Math.log10(value))
  const steps = [1, 2, 3, 4, 5, 6, 8, 10]
  return unit * (steps.find((step) => step * unit >= value) ?? 10)
}

/** Coordinates with no more digits than can be seen. */
export const px = (value: number) => Math.round(value * 100) / 100
