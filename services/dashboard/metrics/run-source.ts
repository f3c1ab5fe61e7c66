import type { Redis } from 'ioredis'
import type { Registry } from 'prom-client'
import { z } from 'zod'
import type { Part } from '../../../shared/contracts/metrics.ts'
import { type RunView, readRunView, runsIndexKey } from '../../../shared/contracts/run-view.ts'
import {
  addToTotals,
  countedRuns,
  countsOf,
  type RunCounter,
  type RunCounts,
  type RunHistogram,
  readTotals,
  runCounters,
  runHistograms,
} from './run-totals.ts'
import { counter, gauge, type MetricsDeps, type Sample, type Source } from './source.ts'
import { partSchema, storedHistogram } from './stored-histogram.ts'

/** Views are kept for 30 days after the end of their run; runs may wait before they begin. */
const LOOK_BACK_MS = 60 * 24 * 3600 * 1000
const VIEWS_AT_ONCE = 100

export function runSource(registry: Registry, { redis, now }: MetricsDeps): Source {
  const names = Object.keys(runCounters) as RunCounter[]
  const set = names.map((name) => ({
    name,
    set: counter(registry, { name, ...runCounters[name] }),
  }))
  const histograms = (Object.keys(runHistograms) as RunHistogram[]).map((name) => ({
    name,
    set: storedHistogram(registry, { name, ...runHistograms[name] }),
  }))
  const setUnfinished = gauge(registry, {
    name: 'astra_runs_unfinished',
    help: 'Runs that have begun and not ended.',
    labelNames: ['mode'],
  })
  /** An ended run never changes: once counted, or gone, it is not read again. */
  let done: Set<string> | undefined

  return {
    name: 'runs',
    async refresh() {
      done ??= new Set(await countedRuns(redis, now()))
      const unfinished = await takeEnded(redis, done, now().getTime() - LOOK_BACK_MS)
      const totals = await readTotals(redis)
      for (const view of unfinished) addCounts(totals, countsOf(view))
      for (const each of set) each.set(samplesOf(each.name, totals))
      for (const each of histograms) each.set(seriesOf(each.name, totals))
      const inMode = (mode: string) => unfinished.filter((view) => view.mode === mode).length
      setUnfinished(['live', 'offline'].map((mode) => [{ mode }, inMode(mode)]))
    },
  }
}

/** Adds what has ended to the totals, and returns what has not. */
async function takeEnded(redis: Redis, done: Set<string>, since: number): Promise<RunView[]> {
  const ids = await redis.zrangebyscore(runsIndexKey, since, '+inf')
  const open = ids.filter((id) => !done.has(id))
  const unfinished: RunView[] = []
  for (let at = 0; at < open.length; at += VIEWS_AT_ONCE) {
    const some = open.slice(at, at + VIEWS_AT_ONCE)
    const views = await Promise.all(some.map((id) => readRunView(redis, id)))
    for (const [i, id] of some.entries()) {
      const view = views[i] ?? null
      if (view !== null && view.ended_at === null) {
        unfinished.push(view)
        continue
      }
      if (view !== null) await addToTotals(redis, view)
      done.add(id)
    }
  }
  return unfinished
}

function addCounts(totals: RunCounts, counts: RunCounts): void {
  for (const [field, by] of counts) totals.set(field, (totals.get(field) ?? 0) + by)
}

const counterField = z.tuple([z.string()]).rest(z.string())
const histogramField = z.tuple([z.string(), partSchema]).rest(z.string())

function samplesOf(name: RunCounter, totals: RunCounts): Sample<string>[] {
  const unit = name === 'astra_run_cost_dollars_total' ? 1e-6 : 1
  return fieldsOf(name, totals).map(([field, value]) => {
    const [, ...values] = counterField.parse(field)
    return [labelsOf(runCounters[name], values), value * unit]
  })
}

function seriesOf(name: RunHistogram, totals: RunCounts) {
  const series = new Map<string, Map<Part, number>>()
  for (const [field, value] of fieldsOf(name, totals)) {
    const [, part, ...values] = histogramField.parse(field)
    const key = JSON.stringify(labelsOf(runHistograms[name], values))
    series.set(key, (series.get(key) ?? new Map<Part, number>()).set(part, value))
  }
  return [...series].map(([key, parts]) => [JSON.parse(key), parts] as const)
}

/** What of the totals belongs to one metric. */
function fieldsOf(name: string, totals: RunCounts): [unknown[], number][] {
  return [...totals]
    .map(([field, value]): [unknown[], number] => [JSON.parse(field), value])
    .filter(([[of]]) => of === name)
}

function labelsOf({ labelNames }: { labelNames: readonly string[] }, values: string[]) {
  return Object.fromEntries(labelNames.map((label, i) => [label, values[i] ?? '']))
}
