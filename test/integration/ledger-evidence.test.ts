import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openEvidence } from '../../services/agent-runner/budget/evidence.ts'
import type { Ledger } from '../../services/agent-runner/budget/ledger.ts'
import { ledgerKeys, readProjectAmounts } from '../../shared/contracts/ledger.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { allTotals, openLedger, readEvidence } from '../support/ledger.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'

let server: TestRedis
let redis: Redis
let home: string
let now: Date
let ledger: Ledger

beforeAll(async () => {
  server = await startRedis()
  redis = connectOrFail(server.address)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})
beforeEach(async () => {
  await redis.flushall()
  home = await mkdtemp(join(tmpdir(), 'astra-ledger-'))
  now = new Date('2026-11-29T23:59:59.000Z')
  ledger = openLedger(redis, home, { now: () => now })
})
afterEach(() => rm(home, { recursive: true, force: true }))

const limits = { project: 1000, day: 1000, run: 1000 }
const outbox = () => redis.hgetall(ledgerKeys('live').outbox)

describe('the evidence of a ledger', () => {
  it('has a line for each transition that was made, and none for a repetition', async () => {
    await ledger.hold('run-a', '1.1', 100, limits)
    await ledger.hold('run-a', '1.1', 100, limits)
    await ledger.hold('run-a', '2.1', 5000, limits)
    await ledger.sent('run-a', '1.1')
    await ledger.settle('run-a', '1.1', 30)
    await ledger.settle('run-a', '1.1', 30)
    const lines = await readEvidence(home, 'live')
    expect(lines.map(({ seq, state }) => [seq, state])).toEqual([
      [1, 'held'],
      [2, 'sent'],
      [3, 'settled'],
    ])
    const amounts = { held: 0, sent: 0, settled: 30 }
    expect(lines[2]).toEqual({
      seq: 3,
      at: now.toISOString(),
      scope: 'live',
      run: 'run-a',
      attempt: '1.1',
      state: 'settled',
      hold_microusd: 100,
      cost_microusd: 30,
      day: '2026-11-29',
      model: 'gpt-6-astra',
      totals: { project: amounts, day: amounts, run: amounts },
    })
    expect(await outbox()).toEqual({})
  })

  it('is in a file for each UTC day in which something was done, and adds up over all', async () => {
    await ledger.hold('run-a', '1.1', 100, limits)
    now = new Date('2026-11-30T00:00:00.000Z')
    await ledger.settle('run-a', '1.1', 30)
    await ledger.hold('run-a', '2.1', 200, limits)
    await ledger.closeRun('run-a', new Map())
    expect((await readdir(join(home, 'ledger'))).sort()).toEqual([
      '2026-11-29.jsonl',
      '2026-11-30.jsonl',
    ])
    const totals = await allTotals(redis, home, 'live', ['2026-11-30', '2026-11-29'])
    expect(totals.evidence).toEqual({ held: 0, sent: 0, settled: 30 })
    expect(totals.evidence).toEqual(totals.project)
  })

  it('keeps any name of a model readable', async () => {
    const model = `a "quoted" \\ name\n☃ ${'x'.repeat(5000)}`
    await openLedger(redis, home, { model }).hold('run-a', '1.1', 100, limits)
    const [line] = await readEvidence(home, 'live')
    expect(model.startsWith(line?.model ?? '?')).toBe(true)
  })
})

describe('evidence that could not be written', () => {
  it('holds up no money, waits in the outbox, and is written later as recovered', async () => {
    await writeFile(join(home, 'ledger'), 'a file where the folder should be')
    expect(await ledger.hold('run-a', '1.1', 100, limits)).toEqual({ granted: true })
    expect(await ledger.settle('run-a', '1.1', 30)).toBe('settled')
    expect(Object.keys(await outbox())).toEqual(['1', '2'])

    await rm(join(home, 'ledger'))
    await ledger.recoverEvidence()
    expect(Object.keys(await outbox()), 'its writer may still be at it').toEqual(['1', '2'])
    now = new Date(now.getTime() + 60_000)
    await Promise.all([ledger.recoverEvidence(), ledger.recoverEvidence()])
    expect(await outbox()).toEqual({})
    const lines = await readEvidence(home, 'live')
    expect(lines.map(({ seq, recovered }) => [seq, recovered])).toEqual([
      [1, true],
      [2, true],
    ])
    expect(lines[1]?.totals.project).toEqual(await readProjectAmounts(redis, 'live'))
  })

  it('in full, by a disk that was full, does not swallow the line behind it', async () => {
    const evidence = openEvidence(home)
    const path = join(home, 'ledger', '2026-11-29.jsonl')
    await evidence.append('2026-11-29', '{"seq":1}')
    await appendFile(path, '{"seq":2,"at"')
    await evidence.append('2026-11-29', '{"seq":3}')
    expect(await readFile(path, 'utf8')).toBe('{"seq":1}\n{"seq":2,"at"\n{"seq":3}\n')
  })
})

describe('the evidence file', () => {
  it('takes many lines at once, each whole', async () => {
    const writers = [openEvidence(home), openEvidence(home), openEvidence(home)]
    const lines = Array.from({ length: 300 }, (_, i) =>
      JSON.stringify({ i, fill: 'x'.repeat(700) }),
    )
    await Promise.all(lines.map((line, i) => writers[i % 3]?.append('2026-11-29', line)))
    const text = await readFile(join(home, 'ledger', '2026-11-29.jsonl'), 'utf8')
    expect(text.split('\n').filter(Boolean).sort()).toEqual(lines.sort())
  })

  it('refuses a line that could be mixed with another, and takes the next one', async () => {
    const evidence = openEvidence(home)
    const first = evidence.append('2026-11-29', 'x'.repeat(4096))
    await expect(first).rejects.toThrow(/too long/)
    await evidence.append('2026-11-29', 'good')
    expect(await readFile(join(home, 'ledger', '2026-11-29.jsonl'), 'utf8')).toBe('good\n')
  })
})
