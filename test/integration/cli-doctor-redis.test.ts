import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { examineRedisServer } from '../../services/cli/doctor/doctor-redis.ts'
import { readConfig } from '../../shared/config.ts'

let folder: string
let stop: () => Promise<unknown>

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'astra-doctor-'))
})
afterEach(async () => {
  await stop()
  rmSync(folder, { recursive: true, force: true })
})

/** What doctor says of a Redis that was started with these arguments. */
async function examine(...args: string[]) {
  const path = join(folder, 'redis.sock')
  const fixed = ['--port', '0', '--unixsocket', path, '--dir', folder, '--save', '']
  const child = spawn('redis-server', [...fixed, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  stop = () => {
    child.kill('SIGKILL')
    return once(child, 'exit')
  }
  for await (const chunk of child.stdout) if (String(chunk).includes('eady to accept')) break
  return examineRedisServer({ ...readConfig({ ASTRA_HOME: folder }), redis: { path } })
}

it('is content with an append-only file and noeviction', async () => {
  expect(await examine('--appendonly', 'yes')).toMatchObject({ result: 'ok', advice: null })
})

it('warns of a Redis that forgets at a crash', async () => {
  const check = await examine('--appendonly', 'no')
  expect(check.result).toBe('warn')
  expect(check.advice).toMatch(/appendonly yes/)
})

it('refuses a Redis that throws jobs away', async () => {
  const check = await examine('--appendonly', 'yes', '--maxmemory-policy', 'allkeys-lru')
  expect(check.result).toBe('fail')
  expect(check.advice).toMatch(/noeviction/)
})
