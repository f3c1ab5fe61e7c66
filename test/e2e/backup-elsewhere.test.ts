import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { productRoot, readConfig } from '../../shared/config.ts'
import { readProjectAmounts } from '../../shared/contracts/ledger.ts'
import { encodeVector } from '../../shared/contracts/vector.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { holdSupervisor } from '../../shared/supervisor-client.ts'
import { runAstra } from '../support/cli.ts'
import type { DoubleServer } from '../support/double-server.ts'
import { openLedger } from '../support/ledger.ts'
import { limits, makeBackup } from '../support/made-backup.ts'
import { sampleReceipt, sampleRecord, seededVector } from '../support/memory.ts'
import { connectTo, type NetworkRedis, startNetworkRedis } from '../support/network-redis.ts'
import { startQdrantDouble } from '../support/qdrant-double.ts'
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.ts'

const noDisk = await noSmallDisk()
let folder: string
const redises: NetworkRedis[] = []
const qdrants: DoubleServer[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-elsewhere-'))
  for (const _ of [1, 2]) {
    redises.push(await startNetworkRedis())
    qdrants.push(await startQdrantDouble())
  }
})
afterAll(async () => {
  await Promise.all([...redises, ...qdrants].map((each) => each.stop()))
  await rm(folder, { recursive: true, force: true })
})

/** The person's own servers, one pair for each installation. */
const settingsOf = (n: number) => ({
  ASTRA_HOME: join(folder, `home-${n}`),
  ASTRA_STORE: 'qdrant',
  ASTRA_QDRANT_URL: qdrants[n]?.url ?? '',
  REDIS_URL: redises[n]?.url ?? '',
})
const astra = (n: number, args: string[]) => runAstra(args, { home: folder, env: settingsOf(n) })

function recordLines(home: string): string {
  const key = loadSigningKey(home)
  const lines = [1, 2, 3].map((n) => {
    const session_id = `run-${n}`
    const receipt = sampleReceipt(key, { run_id: session_id })
    const fix_description = `Repair ${n}`
    const [symptom, fix] = [seededVector(2 * n, 384), seededVector(2 * n + 1, 384)]
    const vectors = { symptom: encodeVector(symptom), fix: encodeVector(fix) }
    return JSON.stringify({
      ...sampleRecord({ session_id, receipt, fix_description, shown: n }),
      vectors,
    })
  })
  return `${lines.join('\n')}\n`
}

describe('an installation with a Redis and a Qdrant of the person', () => {
  const file = () => join(folder, 'server.tar.zst')

  it('is backed up with its records and vectors, while its services run', async () => {
    const { ASTRA_HOME } = settingsOf(0)
    const records = join(folder, 'records.jsonl')
    writeFileSync(records, recordLines(ASTRA_HOME))
    expect(await astra(0, ['memory', 'import', records])).toMatchObject({ code: 0 })
    const [first] = redises
    if (!first) throw new Error('no Redis')
    const redis = connectTo(first)
    const ledger = openLedger(redis, ASTRA_HOME)
    await ledger.hold('run-1', '1.1', 300, limits)
    await ledger.sent('run-1', '1.1')
    await ledger.settle('run-1', '1.1', 250)
    redis.disconnect()
    const result = await astra(0, ['backup', file(), '--json'])
    expect(result).toMatchObject({ code: 0 })
    expect(JSON.parse(result.stdout)).toMatchObject({
      store: { kind: 'records', server: 'qdrant' },
      counts: { records: 3 },
      spent: { live: { settled: 250 } },
    })
  })

  it('is not restored while services run at that Redis, from whatever home', async () => {
    const env = { PATH: process.env.PATH, HOME: folder, ...settingsOf(0) }
    const lease = await holdSupervisor(readConfig(env), { env })
    try {
      const other = { ...settingsOf(0), ASTRA_HOME: join(folder, 'home-other') }
      const result = await runAstra(['restore', file()], { home: folder, env: other })
      expect(result).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('services run at redis:'),
      })
      expect(readdirSync(other.ASTRA_HOME)).toEqual(['run'])
    } finally {
      await lease.release()
    }
  })

  it('is restored into others, whose ledger forgets nothing of its own', async () => {
    const [, second] = redises
    if (!second) throw new Error('no Redis')
    const redis = connectTo(second)
    const ledger = openLedger(redis, join(folder, 'home-elsewhere'))
    await ledger.hold('run-of-there', '1.1', 900, limits)
    const result = await astra(1, ['restore', file(), '--json'])
    expect(result, result.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse(result.stdout)).toMatchObject({
      imported: { imported: 3, unproved: 0, refused: [] },
    })
    expect(await readProjectAmounts(redis, 'live')).toEqual({ held: 900, sent: 0, settled: 250 })
    // Its run goes on: it may spend what it holds.
    expect(await ledger.sent('run-of-there', '1.1')).toBe(true)
    redis.disconnect()
    expect(existsSync(join(settingsOf(1).ASTRA_HOME, 'memory', 'records.jsonl'))).toBe(false)
    const exports = await Promise.all(
      [0, 1].map((n) => astra(n, ['memory', 'export', '-', '--vectors'])),
    )
    expect(exports[0]?.stdout.split('\n')).toHaveLength(4)
    expect(exports[1]?.stdout).toBe(exports[0]?.stdout)
  })
})

it('does not put the file of an embedded store where a server is the store', async () => {
  const file = join(folder, 'embedded.tar.zst')
  await makeBackup(file)
  const env = { ...settingsOf(1), ASTRA_HOME: join(folder, 'home-new'), REDIS_URL: '' }
  const result = await runAstra(['restore', file], { home: folder, env })
  expect(result).toMatchObject({ code: 2 })
  expect(result.stderr).toMatch(/holds an embedded store, and ASTRA_STORE is qdrant/)
  expect(readdirSync(env.ASTRA_HOME)).toEqual(['run'])
})

it.skipIf(noDisk !== null)('leaves nothing on a disk that is full', async () => {
  const target = join(folder, 'small')
  await mkdir(target)
  const disk = await mountSmallDisk(target, 1)
  try {
    await disk.fill()
    const [command = '', ...args] = [
      ...disk.through,
      process.execPath,
      join(productRoot, 'services/cli/main.ts'),
      ...['backup', join(target, 'backup.tar.zst')],
    ]
    const child = spawn(command, args, {
      env: { PATH: process.env.PATH, HOME: folder, ASTRA_HOME: join(folder, 'home-full') },
      stdio: ['ignore', 'inherit', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    const [code] = await once(child, 'close')
    expect(code, said).toBe(1)
    expect(said).toMatch(/ENOSPC|disk is full|cannot be copied/)
    const names = await namesThrough(disk.through, target)
    expect(names).toEqual(['filler'])
  } finally {
    await disk.remove()
  }
})

async function namesThrough(through: readonly string[], target: string): Promise<string[]> {
  const [command = '', ...args] = [...through, 'ls', '-A', target]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  await once(child, 'close')
  return text.split('\n').filter(Boolean)
}
