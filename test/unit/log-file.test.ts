import {
  closeSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openLogFile, putLargeLogsAside } from '../../shared/log-file.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'astra-log-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function start(text: string): void {
  const file = openLogFile(join(folder, 'logs'), 'embedder', 10)
  writeSync(file, text)
  closeSync(file)
}
const read = (name: string) => readFileSync(join(folder, 'logs', name), 'utf8')

it('a log is added to until it is large, then put aside once, in the place of the older one', () => {
  start('12345')
  start('67890')
  expect(read('embedder.log')).toBe('1234567890')
  start('A')
  expect(read('embedder.log')).toBe('1234567890A')
  start('second')
  expect([read('embedder.log'), read('embedder.log.1')]).toEqual(['second', '1234567890A'])
  start('is large')
  start('third')
  expect([read('embedder.log'), read('embedder.log.1')]).toEqual(['third', 'secondis large'])
  expect(readdirSync(join(folder, 'logs'))).toHaveLength(2)
  expect(statSync(join(folder, 'logs', 'embedder.log')).mode & 0o077).toBe(0)
})

it('a large log is put aside while its process goes on writing to it', () => {
  const logs = join(folder, 'logs')
  const file = openLogFile(logs, 'embedder', 10)
  writeSync(file, 'not large')
  putLargeLogsAside(logs, 10)
  expect(readdirSync(logs)).toEqual(['embedder.log'])
  writeSync(file, ', now it is')
  putLargeLogsAside(logs, 10)
  writeSync(file, 'goes on')
  expect([read('embedder.log'), read('embedder.log.1')]).toEqual([
    'goes on',
    'not large, now it is',
  ])
  closeSync(file)
})
