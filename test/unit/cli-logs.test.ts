import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { logText } from '../../services/cli/format/format-log.ts'
import { createTerminal } from '../../services/cli/format/terminal.ts'
import { parseLogLine } from '../../services/cli/logs/log-entry.ts'
import { type LogFilter, LogReader } from '../../services/cli/logs/read-logs.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'astra-logs-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const LEVELS = { info: 30, warn: 40, error: 50 }
const at = (second: number) => `2026-11-30T07:00:${String(second).padStart(2, '0')}.000Z`

function line(second: number, msg: string, more: Record<string, unknown> = {}): string {
  const { level = 'info', ...fields } = more as { level?: keyof typeof LEVELS }
  const known = { level: LEVELS[level], time: at(second), service: 'x', pid: 7 }
  return `${JSON.stringify({ ...known, ...fields, msg })}\n`
}

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
const append = (name: string, text: string) => appendFileSync(join(folder, name), text)
const everything: LogFilter = { service: null, since: null, level: 'info', run: null }
const reading = (filter: Partial<LogFilter> = {}) =>
  new LogReader(folder, { ...everything, ...filter })

async function messages(filter: Partial<LogFilter> = {}, max = 100): Promise<string[]> {
  const reader = reading(filter)
  const entries = await reader.present(max)
  await reader.close()
  return entries.map(({ message }) => message)
}

describe('a line of a log', () => {
  it('is one of our logger, with its error and its run', () => {
    const written = line(1, 'failed', {
      level: 'error',
      runId: 'r1',
      ms: 12,
      err: { type: 'TypeError', message: 'no list', stack: 'TypeError: no list\n    at a.ts:1' },
    })
    expect(parseLogLine('embedder-2', written, null)).toEqual({
      time: at(1),
      process: 'embedder-2',
      level: 'error',
      message: 'failed',
      run_id: 'r1',
      error: { message: 'TypeError: no list', stack: 'TypeError: no list\n    at a.ts:1' },
      fields: { ms: 12 },
    })
  })

  it('is one of Redis, in its own form and the local time', () => {
    const now = new Date('2026-11-30T07:00:01.123Z')
    const day = `${String(now.getDate()).padStart(2, '0')} Nov 2026`
    const time = `${now.toTimeString().slice(0, 8)}.123`
    const entry = parseLogLine('redis', `99:M ${day} ${time} # Out of memory`, null)
    expect(entry).toMatchObject({
      time: now.toISOString(),
      level: 'warn',
      message: 'Out of memory',
    })
  })

  it.each(['no json', '{"level": 30', '{"level":30,"msg":"no time"}', '[1]'])(
    'is anything else: a warning, of the time of the line before (%s)',
    (text) => {
      const entry = parseLogLine('embedder', text, at(3))
      expect(entry).toMatchObject({ time: at(3), level: 'warn', message: text, fields: {} })
    },
  )

  it('is shown on one line without what steers a terminal, with the stack only when asked', () => {
    const err = { type: 'Error', message: 'bad\u001b[2J', stack: 'Error: bad\n    at a.ts:1' }
    const entry = parseLogLine('redis', line(1, 'a\nb', { err, runId: 'r1', ms: 3 }), null)
    const terminal = createTerminal({})
    const shown = logText(terminal, entry, false)
    expect(shown).toBe(`${at(1)}  redis           info   a b  run=r1  ms=3  Error: bad`)
    expect(logText(terminal, entry, true)).toBe(`${shown}\n    Error: bad\n        at a.ts:1`)
  })
})

describe('the logs of a folder', () => {
  it('are one list by time, and lines of one log stay in their order', async () => {
    write('a.log', `${line(1, 'a1')}${line(4, 'a4')}trace of a4\n`)
    write('b.log', line(2, 'b2') + line(4, 'b4'))
    write('a.log.1', line(0, 'put aside'))
    write('notes.txt', 'no log\n')
    expect(await messages()).toEqual(['put aside', 'a1', 'b2', 'a4', 'trace of a4', 'b4'])
    expect(await messages({}, 2)).toEqual(['trace of a4', 'b4'])
  })

  it('are cut down to a service, a level, a run and a time', async () => {
    write('embedder.log', line(1, 'one') + line(2, 'bad', { level: 'warn', runId: 'r1' }))
    write('embedder-2.log', line(3, 'two', { runId: 'r1' }))
    write('test-runner.log', line(4, 'three', { runId: 'r2' }))
    expect(await messages({ service: 'embedder' })).toEqual(['one', 'bad', 'two'])
    expect(await messages({ service: 'embedder-2' })).toEqual(['two'])
    expect(await messages({ service: 'embed' })).toEqual([])
    expect(await messages({ level: 'warn' })).toEqual(['bad'])
    expect(await messages({ run: 'r1' })).toEqual(['bad', 'two'])
    expect(await messages({ since: new Date(at(3)) })).toEqual(['two', 'three'])
  })

  it('are followed: what is added, over rotation and emptying, and logs that are new', async () => {
    const reader = reading()
    const added = async () => (await reader.added()).map(({ message }) => message)
    expect(await reader.present(10)).toEqual([])
    write('a.log', line(1, 'first'))
    expect(await added()).toEqual(['first'])
    const [begun, rest] = [line(2, 'half').slice(0, 20), line(2, 'half').slice(20)]
    append('a.log', begun)
    expect(await added()).toEqual([])
    append('a.log', rest)
    expect(await added()).toEqual(['half'])
    append('a.log', line(3, 'last of the old'))
    renameSync(join(folder, 'a.log'), join(folder, 'a.log.1'))
    write('a.log', line(4, 'first of the new'))
    write('embedder-2.log', line(5, 'scaled'))
    expect(await added()).toEqual(['last of the old', 'first of the new', 'scaled'])
    write('a.log', '')
    expect(await added()).toEqual([])
    append('a.log', line(6, 'ä'))
    expect(await added()).toEqual(['ä'])
    await reader.close()
  })
})
