import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import { runFiles } from '../../shared/run-files.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import { startDashboardApp, type TestDashboard } from '../support/dashboard.ts'
import { openEventStream, type StreamEvent } from '../support/event-stream.ts'

const template = join(productRoot, 'demo_projects/templates/typescript/scenario_alpha')

let astra: Astra
let lease: Lease
let dashboard: TestDashboard
let workspace: string
/** What the stream told of a whole run, and what is there afterwards. */
let events: StreamEvent[]
let view: RunView
let page: string

beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'astra-live-run-'))
  await cp(template, workspace, { recursive: true })
  astra = await createAstra()
  lease = await astra.hold()
  dashboard = await startDashboardApp(astra.config.redis, astra.home)
  const { cookie } = await dashboard.logIn()
  const added = await astra.cli(['enqueue', workspace, '--offline', '--json'])
  const { run_id } = JSON.parse(added.stdout)
  const stream = await openEventStream(`${dashboard.url}/runs/${run_id}/events`, { cookie })
  events = await stream.rest()
  view = JSON.parse((await astra.cli(['status', run_id, '--json'])).stdout)
  page = await (await fetch(`${dashboard.url}/runs/${run_id}`, { headers: { cookie } })).text()
})

afterAll(async () => {
  await dashboard?.stop()
  await lease?.release()
  await astra?.remove()
  await rm(workspace, { recursive: true, force: true })
})

const ROW = /<li id="(e-[\d-]+)"/

/** The rows as a browser has them when it has followed to the end. */
function followed(): Map<string, string> {
  const rows = events.filter(({ event }) => event === 'row')
  return new Map(rows.map(({ data }) => [ROW.exec(data)?.[1] ?? '', data]))
}

describe('a run that is followed from its beginning', () => {
  it('ends as fixed, and its stream with it', () => {
    expect(view).toMatchObject({ status: 'fixed', reason: 'tests_pass' })
    expect(events.at(-1)?.event).toBe('end')
    const heads = events.filter(({ data }) => data.startsWith('<section id="run-head"'))
    expect(heads.at(-1)?.data).toContain('>fixed<')
    expect(heads.at(-1)?.data).toContain(`>${view.requests} <span class="muted">of 40<`)
  })

  it('shows as it goes what the page shows afterwards, row by row', () => {
    const [, timeline = ''] = /<ol id="timeline"[^>]*>([\s\S]*?)<\/ol>/.exec(page) ?? []
    expect([...followed().values()].join('')).toBe(timeline)
    expect(page).not.toContain('id="live-state"')
  })

  it('has a row for every request, answer, call and test that its view counts', () => {
    const rows = [...followed().values()]
    const ofKind = (kind: string) => rows.filter((row) => row.includes(`event-${kind}"`))
    expect(ofKind('request')).toHaveLength(view.requests)
    expect(ofKind('response')).toHaveLength(view.requests)
    expect(ofKind('tests')).toHaveLength(view.tests)
    expect(ofKind('search')).toHaveLength(view.recall.searches)
    expect(ofKind('store')).toHaveLength(1)
    expect(ofKind('ended')).toHaveLength(1)
    const asked = ofKind('response').flatMap((row) => row.match(/asks for/g) ?? [])
    expect(asked).toHaveLength(view.tool_calls)
  })

  it('says when each call was asked for and delivered, as the transcript has it', async () => {
    const { transcript } = runFiles(astra.home, view.run_id)
    const lines = (await readFile(transcript, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const outputs = lines.filter(({ type }) => type === 'output')
    expect(outputs).toHaveLength(view.tool_calls)
    const rows = [...followed().values()]
    for (const { call_id, request } of outputs) {
      const carried = rows.find((row) => row.includes(`>request ${request}<`))
      expect(carried).toContain(`${call_id}</span></li>`)
    }
    const { request } = outputs.find(({ tool }) => tool === 'search_codebase_memory')
    const result = rows.find((row) => row.includes('event-search"'))
    expect(result).toContain(`asked in request 1, delivered in request ${request}`)
  })

  it('shows the patch, the proof and its receipt at the end', () => {
    expect(page).toContain('class="diff-add"')
    expect(page).toContain('>proved<')
    expect(page).toContain('Patched, the targets again')
    for (const name of view.verification?.failing_before ?? []) {
      expect(page).toContain(name.replaceAll('>', '&gt;'))
    }
  })
})
