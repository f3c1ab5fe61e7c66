import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMetrics } from '../../services/dashboard/metrics/create-metrics.ts'
import { productRoot, readConfig } from '../../shared/config.ts'
import { memoryStateSchema } from '../../shared/contracts/memory.ts'
import { metricCatalog } from '../../shared/contracts/metrics.ts'
import { runReasonSchema, runStatusSchema } from '../../shared/contracts/run.ts'
import { runsIndexKey, runViewKey } from '../../shared/contracts/run-view.ts'
import { startHeartbeat } from '../../shared/heartbeat.ts'
import { createLogger } from '../../shared/logger.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer, type Producer } from '../../shared/queue/producer.ts'
import {
  type KnownMetrics,
  metricsIn,
  type Query,
  queriesOfBoard,
  queriesOfRules,
  unknownIn,
} from '../support/promql.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { sampleView } from '../support/run-view.ts'

const log = createLogger('test', 'fatal')
const config = readConfig({ ASTRA_HOME: '/nowhere' })

let redis: TestRedis
let client: ReturnType<typeof connectOrFail>
let producer: Producer
let known: KnownMetrics

beforeAll(async () => {
  redis = await startRedis()
  client = connectOrFail(redis.address)
  producer = createProducer(client)
  for (const ended_at of [null, new Date().toISOString()]) {
    const run_id = ended_at ? 'run-ended' : 'run-open'
    const created_at = new Date().toISOString()
    const view = { ...sampleView({ run_id, created_at }), ended_at }
    await client.set(runViewKey(run_id), JSON.stringify(view))
    await client.zadd(runsIndexKey, Date.now(), run_id)
  }
  const heartbeat = startHeartbeat('embedder', client, log)
  const metrics = createMetrics({ redis: client, producer, config, log, now: () => new Date() })
  const shown = metricsIn(await metrics.text())
  await heartbeat.stop()
  known = withAllValues(shown)
})
afterAll(async () => {
  await producer.close()
  client.disconnect()
  await redis.stop()
})

/** What has not happened here has no samples; what its labels could be is known all the same. */
function withAllValues(shown: Map<string, Map<string, Set<string> | null>>): KnownMetrics {
  const add = (name: string, label: string, values: readonly string[] | null) =>
    shown.get(name)?.set(label, values && new Set(values))
  for (const [name, { kind, labels }] of Object.entries(metricCatalog)) {
    for (const part of kind === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
      for (const [label, values] of Object.entries(labels)) add(name + part, label, values)
    }
    if (kind === 'histogram') add(`${name}_bucket`, 'le', null)
  }
  add('astra_runs_total', 'status', runStatusSchema.options)
  add('astra_runs_total', 'reason', [...runReasonSchema.options, 'none'])
  add('astra_memory_records', 'state', memoryStateSchema.options)
  const ofPrometheus = { job: new Set(['astra']), instance: null }
  return new Map([...shown, ['up', new Map(Object.entries(ofPrometheus))]])
}

const textOf = (file: string) => readFileSync(join(productRoot, 'ops', file), 'utf8')

describe('the files for Prometheus and Grafana name only what is there', () => {
  it.each([...queriesOfRules(textOf('prometheus/astra-rules.yml'))])('the alert %s', (_, query) => {
    expect(unknownIn(query, known)).toEqual([])
  })

  it('every panel of the board', () => {
    const queries = queriesOfBoard(textOf('grafana/astra-dashboard.json'))
    expect(queries.length).toBeGreaterThan(25)
    expect(queries.flatMap((query) => unknownIn(query, known))).toEqual([])
  })

  it.each<[string, Query, string[]]>([
    ['metric', { expr: 'astra_queue_job', shown: [] }, ['astra_queue_job']],
    ['label', { expr: 'astra_queue_jobs{stat="x"}', shown: [] }, ['astra_queue_jobs{stat}']],
    [
      'value of a label',
      { expr: 'astra_queue_jobs{state=~"failed|lost"}', shown: [] },
      ['astra_queue_jobs{state="lost"}'],
    ],
    [
      'value of a label of what never happened here',
      { expr: 'astra_job_duration_seconds_count{outcome!="done"}', shown: [] },
      ['astra_job_duration_seconds_count{outcome="done"}'],
    ],
    ['group', { expr: 'sum by (que) (astra_queue_jobs)', shown: [] }, ['by (que)']],
    [
      'label that was aggregated away',
      { expr: 'sum by (queue) (astra_queue_jobs)', shown: ['state'] },
      ['{{state}}'],
    ],
  ])('or it is told: a wrong %s', (_, query, unknown) => {
    expect(unknownIn(query, known)).toEqual(unknown)
  })
})
