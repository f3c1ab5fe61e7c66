import { html } from 'hono/html'
import type { RunView } from '../../../shared/contracts/run-view.ts'
import type { Html } from '../layout.ts'
import { badge, type Tone } from '../parts/badge.ts'

const TONES: Record<RunView['status'], Tone> = {
  queued: 'quiet',
  running: 'info',
  fixed: 'good',
  not_fixed: 'warn',
  nothing_to_fix: 'quiet',
  limit_reached: 'warn',
  refused: 'warn',
  cancelled: 'quiet',
  failed: 'bad',
}

export const named = (word: string) => word.replaceAll('_', ' ')

/** A run's status as it is now, and why it ended so. */
export function statusBadge({ status, reason }: Pick<RunView, 'status' | 'reason'>): Html {
  return html`${badge(named(status), TONES[status])}${
    reason === null ? '' : html` <span class="muted reason">${named(reason)}</span>`
  }`
}

/** What a run got from the memory. */
export function memoryUsed({ recall }: Pick<RunView, 'recall'>): Html {
  if (recall.returned.length > 0) return badge('match', 'good')
  if (recall.unavailable > 0) return badge('unavailable', 'bad')
  if (recall.searches > 0) return badge('none', 'quiet')
  return html`<span class="muted">not asked</span>`
}

export function hasEnded({ status }: Pick<RunView, 'status'>): boolean {
  return status !== 'queued' && status !== 'running'
}
