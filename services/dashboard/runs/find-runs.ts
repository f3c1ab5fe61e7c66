import type { Redis } from 'ioredis'
import {
  type RunView,
  runsIndexKey,
  unfinishedRunsKey,
} from '../../../shared/contracts/run-view.ts'
import type { Producer } from '../../../shared/queue/producer.ts'
import { listQueuedRuns } from '../../../shared/queued-runs.ts'
import { readRunViews } from './read-run-views.ts'
import { hasEnded } from './status-badge.ts'

export type RunFilter = {
  status: RunView['status'] | null
  /** Words that a run's id, prompt, workspace, model or reason has to hold. */
  text: string
  /** A UTC day on which it was asked for. */
  day: string | null
}

const PAGE = 50
const CHUNK = 100
/** How many runs one page may look at; a rarer filter goes on with the next page. */
const MAX_LOOKED_AT = 1000
const MAX_ACTIVE = 100

const DAY_MS = 24 * 3600 * 1000

type Access = { redis: Redis; producer: Pick<Producer, 'queue'> }

/** The runs that wait or are under way, newest first, as far as they fit the filter. */
export async function activeRuns({ redis, producer }: Access, filter: RunFilter) {
  const [queued, ids] = await Promise.all([
    listQueuedRuns(producer, MAX_ACTIVE),
    redis.smembers(unfinishedRunsKey),
  ])
  const { views } = await readRunViews(redis, ids.slice(0, 10 * MAX_ACTIVE))
  const begun = new Set(views.map((view) => view.run_id))
  const active = [
    ...queued.filter((view) => !begun.has(view.run_id)),
    ...views.filter((view) => !hasEnded(view)),
  ]
  const fitting = active
    .filter((view) => fits(view, filter))
    .sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
  return { views: fitting.slice(0, MAX_ACTIVE), more: Math.max(0, fitting.length - MAX_ACTIVE) }
}

export type EndedRuns = {
  views: RunView[]
  /** Where the next page begins; null at the end. */
  next: string | null
  /** Views of another version, or damaged ones. */
  unreadable: number
}

/**
 * A page of ended runs, newest first. `after` is `CREATED_MS:RUN` of the last one seen: runs that are
 * added meanwhile move nothing.
 */
export async function endedRuns(
  redis: Redis,
  filter: RunFilter,
  after: string | null,
): Promise<EndedRuns> {
  const found: EndedRuns = { views: [], next: null, unreadable: 0 }
  if (filter.status === 'queued' || filter.status === 'running') return found
  let cursor = after
  for (let looked = 0; looked < MAX_LOOKED_AT; looked += CHUNK) {
    const members = await membersAfter(redis, filter.day, cursor)
    if (members.length === 0) return { ...found, next: null }
    const { views, unreadable } = await readRunViews(
      redis,
      members.map(({ id }) => id),
    )
    found.unreadable += unreadable
    const byId = new Map(views.map((view) => [view.run_id, view]))
    for (const { id, cursor: here } of members) {
      const view = byId.get(id)
      if (view && hasEnded(view) && fits(view, filter)) {
        if (found.views.length === PAGE) return { ...found, next: cursor }
        found.views.push(view)
      }
      cursor = here
    }
  }
  return { ...found, next: cursor }
}

type Member = { id: string; cursor: string }

/** The next runs of the index. Among equals of one millisecond the order is that of their ids. */
async function membersAfter(
  redis: Redis,
  day: string | null,
  cursor: string | null,
): Promise<Member[]> {
  const dayStart = day === null ? null : Date.parse(`${day}T00:00:00.000Z`)
  const [ms, ...rest] = cursor?.split(':') ?? []
  const lastId = rest.join(':')
  const max = ms ?? (dayStart === null ? '+inf' : String(dayStart + DAY_MS - 1))
  const min = dayStart === null ? '-inf' : String(dayStart)
  const members: Member[] = []
  for (let offset = 0; members.length === 0; offset += CHUNK) {
    const range = [runsIndexKey, max, min, 'WITHSCORES', 'LIMIT', offset, CHUNK] as const
    const flat = await redis.zrevrangebyscore(...range)
    if (flat.length === 0) return []
    for (let i = 0; i < flat.length; i += 2) {
      const [id = '', score = ''] = flat.slice(i, i + 2)
      if (score === ms && id >= lastId) continue
      members.push({ id, cursor: `${score}:${id}` })
    }
  }
  return members
}

function fits(view: RunView, { status, text, day }: RunFilter): boolean {
  if (status !== null && view.status !== status) return false
  if (day !== null && !view.created_at.startsWith(day)) return false
  const { run_id, prompt, workspace, model, reason } = view
  const all = [run_id, prompt, workspace, model, reason ?? ''].join('\n').toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}
