import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import { isMarkedCancelled } from '../../shared/contracts/cancellation.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import {
  type Body,
  functionCall,
  message,
  type Reply,
  type ScriptedModel,
  searchCall,
  startScriptedModel,
} from '../support/scripted-model.ts'

const template = join(productRoot, 'demo_projects/templates/typescript/scenario_alpha')

let astra: Astra
let lease: Lease
let model: ScriptedModel
/** What the model says in the test that runs now. */
let script: (body: Body, n: number) => Reply
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-agent-'))
  let first = 0
  model = await startScriptedModel((body, n) => {
    if (!body.previous_response_id) first = n - 1
    return script(body, n - first)
  })
  astra = await createAstra({
    OPENAI_API_KEY: `sk-fake-${process.pid}`,
    OPENAI_BASE_URL: model.url,
    ASTRA_MAX_REQUESTS: '12',
  })
  lease = await astra.hold()
})

afterAll(async () => {
  await lease.release()
  await model.close()
  await astra.remove()
  await rm(folder, { recursive: true, force: true })
})

/** A live run on a copy of a small project, with what the test wants the model to say. */
async function run(
  says: (body: Body, n: number) => Reply,
  args: string[] = [],
): Promise<{ view: RunView; bodies: Body[]; code: number | null }> {
  script = says
  const before = model.bodies.length
  const workspace = await mkdtemp(join(folder, 'workspace-'))
  await cp(template, workspace, { recursive: true })
  const result = await astra.cli(['fix', workspace, '--approve-live-cost', '--json', ...args])
  if (!result.stdout.trim()) throw new Error(result.stderr)
  return { view: JSON.parse(result.stdout), bodies: model.bodies.slice(before), code: result.code }
}

/** Says one thing after another, then ends. */
function inTurn(...replies: Reply[]): (body: Body, n: number) => Reply {
  return (_body, n) => replies[n - 1] ?? { output: [message('Nothing more.')] }
}

/** The outputs that a request delivered, by call id. */
function outputs(body: Body | undefined): Record<string, string> {
  const items = (body?.input ?? []).filter((item) => item.type === 'function_call_output')
  return Object.fromEntries(items.map((item) => [item.call_id, String(item.output)]))
}

const wait = () => functionCall('wait_for_tasks', { task_handles: ['memory'] })

describe('a live run', () => {
  it('starts a chain of its own, repeats instructions and tools, and continues the latest response', async () => {
    const search = searchCall()
    const { view, bodies } = await run(inTurn({ output: [search, wait()] }))
    expect(bodies[0]).not.toHaveProperty('previous_response_id')
    expect(bodies[1]?.previous_response_id).toBe(view.response_ids[0])
    expect(bodies[1]?.instructions).toBe(bodies[0]?.instructions)
    expect(bodies[1]?.tools).toEqual(bodies[0]?.tools)
    expect(outputs(bodies[1])[search.call_id]).toBe('No relevant confirmed fixes found.')
    expect(view).toMatchObject({ status: 'not_fixed', reason: 'no_edit', cost_is_notional: false })
    expect(view.cost_usd).toBeCloseTo(2 * (0.01 + 0.005), 6)
  })

  it('gives the model the observed failure with the first request', async () => {
    const { bodies } = await run(inTurn({ output: [searchCall(), wait()] }))
    const text = JSON.stringify(bodies[0]?.input)
    expect(text).toContain('node --test')
    expect(text).toContain('Failing tests:')
  })

  it('answers malformed arguments, an unknown tool and an unknown command, and goes on', async () => {
    const calls = [
      functionCall('read_file', '{"path":'),
      functionCall('delete_everything', {}),
      functionCall('run_tests', { command: 'rm -rf /' }),
      functionCall('read_file', { path: '../../etc/passwd' }),
    ]
    const { view, bodies } = await run(inTurn({ output: [...calls, searchCall(), wait()] }))
    const answered = outputs(bodies[1])
    const codes = calls.map((call) => JSON.parse(answered[call.call_id] ?? '{}').error?.code)
    expect(codes).toEqual(['invalid_arguments', 'unknown_tool', 'unknown_command', 'path_refused'])
    expect(view.status).toBe('not_fixed')
  })

  it('ends as failed when a call has no id and when the output is empty', async () => {
    const { call_id: _, ...nameless } = functionCall('list_project_files', {})
    const first = await run(inTurn({ output: [nameless] }))
    expect(first.view).toMatchObject({ status: 'failed', reason: 'model_output_invalid' })
    expect(first.code).toBe(8)
    const second = await run(inTurn({ output: [] }))
    expect(second.view).toMatchObject({ status: 'failed', reason: 'model_output_invalid' })
  })

  it('does not carry out a call that was cut off', async () => {
    const cut = functionCall('list_project_files', {}, { status: 'incomplete' })
    const { bodies } = await run(inTurn({ output: [searchCall(), cut, wait()] }))
    expect(outputs(bodies[1])[cut.call_id]).toContain('aborted')
  })

  it('refuses an edit before the memory was delivered, and ends at the second one', async () => {
    const edit = () =>
      functionCall('apply_edit', { path: 'package.json', old_text: '"module"', new_text: '"x"' })
    const first = edit()
    const { view, bodies } = await run(inTurn({ output: [first] }, { output: [edit()] }))
    expect(outputs(bodies[1])[first.call_id]).toContain('memory_gate')
    expect(view).toMatchObject({ status: 'failed', reason: 'memory_gate', patch: null })
  })

  it('reminds of the memory once when the model answers too early', async () => {
    const { view, bodies } = await run(inTurn({ output: [message('It is the parser.')] }))
    expect(JSON.stringify(bodies[1]?.input)).toContain('search_codebase_memory')
    expect(bodies[1]?.previous_response_id).toBe(view.response_ids[0])
    expect(view).toMatchObject({ status: 'failed', reason: 'memory_gate', requests: 2 })
  })

  it('refuses to store what no passing run has confirmed', async () => {
    const store = functionCall('store_fix_memory', {
      fix_description: 'I think it works',
      error_type: 'AssertionError',
      file_paths: ['src/a.ts'],
      outcome: 'node passed with exit code 0',
    })
    const { view, bodies } = await run(
      inTurn({ output: [searchCall(), wait()] }, { output: [store] }),
    )
    expect(outputs(bodies[2])[store.call_id]).toContain('confirmed_fix_gate')
    expect(view.stored_memory_id).toBeNull()
  })

  it('applies the repair and leaves out what was changed in the tests, and stores with the receipt', async () => {
    const testFile = 'test/catalog.test.ts'
    const repair = functionCall('apply_edit', {
      path: 'src/settings.ts',
      old_text: 'raw.split(",")',
      new_text: 'raw.split(",").map((each) => each.trim())',
    })
    const tampering = functionCall('apply_edit', {
      path: testFile,
      old_text: 'import assert from "node:assert/strict";',
      new_text: 'import assert from "node:assert";',
    })
    const tests = functionCall('run_tests', { command: 'node --test' })
    const store = functionCall('store_fix_memory', {
      fix_description: 'Trim the parts of the comma-separated setting.',
      error_type: 'AssertionError',
      file_paths: ['src/settings.ts'],
      outcome: 'node passed with exit code 0',
    })
    const { view, bodies } = await run(
      inTurn(
        { output: [searchCall(), wait()] },
        { output: [repair, tampering, tests] },
        { output: [store] },
      ),
    )
    expect(JSON.parse(outputs(bodies[2])[tampering.call_id] ?? '')).toMatchObject({ edited: true })
    expect(JSON.parse(outputs(bodies[2])[tests.call_id] ?? '')).toMatchObject({
      confirmed_outcome: 'node passed with exit code 0',
    })
    const stored = JSON.parse(outputs(bodies[3])[store.call_id] ?? '')
    expect(view).toMatchObject({
      status: 'fixed',
      applied: true,
      dropped_paths: [testFile],
      stored_memory_id: stored.memory_id,
    })
    expect(view.patch).toContain('src/settings.ts')
    expect(view.patch).not.toContain(testFile)
    const kept = await readFile(join(view.workspace, testFile), 'utf8')
    expect(kept).toBe(await readFile(join(template, testFile), 'utf8'))
  })

  it('repeats a request that failed and pays for the one that was answered', async () => {
    const fault: Reply = {
      http: 429,
      body: { error: { message: 'slow down', code: 'rate_limit' } },
    }
    let failed = false
    const { view } = await run((body, n) => {
      if (failed) return inTurn({ output: [searchCall(), wait()] })(body, n)
      failed = true
      return fault
    })
    expect(view).toMatchObject({ status: 'not_fixed', requests: 3 })
    expect(view.cost_usd).toBeCloseTo(2 * (0.01 + 0.005), 6)
  })

  it('ends at once when the quota is used up', async () => {
    const quota = { message: 'no money', type: 'insufficient_quota', code: 'insufficient_quota' }
    const { view } = await run(() => ({ http: 429, body: { error: quota } }))
    expect(view).toMatchObject({
      status: 'failed',
      reason: 'model_error',
      requests: 1,
      cost_usd: 0,
    })
  })

  it('stops at the limits of requests and of tool calls', async () => {
    const endless = () => ({ output: [functionCall('list_project_files', {})] })
    const requests = await run(endless, ['--max-requests', '3'])
    expect(requests.view).toMatchObject({
      status: 'limit_reached',
      reason: 'max_requests',
      requests: 3,
    })
    expect(requests.code).toBe(5)
    const calls = await run(endless, ['--max-tool-calls', '2'])
    expect(calls.view).toMatchObject({ status: 'limit_reached', reason: 'max_tool_calls' })
  })

  it('stops at its time limit while tests hang, and stops the tests with it', async () => {
    const hang = functionCall('apply_edit', {
      path: 'src/settings.ts',
      old_text: 'raw.split(",")',
      new_text: '(setInterval(() => {}, 1000), raw.split(","))',
    })
    const tests = functionCall('run_tests', { command: 'node --test' })
    const { view } = await run(
      inTurn({ output: [searchCall(), wait()] }, { output: [hang, tests] }),
      ['--max-seconds', '1', '--run-id', 'hanging'],
    )
    expect(view).toMatchObject({ status: 'limit_reached', reason: 'time' })
    const redis = connectOrFail(astra.config.redis)
    expect(await isMarkedCancelled(redis, 'hanging')).toBe(true)
    redis.disconnect()
  })

  it('sends no request that the budget of the run has no room for', async () => {
    const { view, bodies } = await run(inTurn(), ['--budget', '0.01'])
    expect(view).toMatchObject({
      status: 'limit_reached',
      reason: 'budget',
      requests: 0,
      cost_usd: 0,
    })
    expect(bodies).toHaveLength(0)
  })

  it('without approval of the cost is refused before anything is sent', async () => {
    const workspace = await mkdtemp(join(folder, 'workspace-'))
    await cp(template, workspace, { recursive: true })
    const before = model.bodies.length
    const result = await astra.cli(['fix', workspace, '--json'])
    expect(JSON.parse(result.stdout)).toMatchObject({
      status: 'refused',
      reason: 'cost_not_approved',
    })
    expect(result.code).toBe(6)
    expect(model.bodies).toHaveLength(before)
  })
})
