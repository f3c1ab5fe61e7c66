import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { examineAppendOnly } from '../../services/cli/doctor/doctor-append-only.ts'
import { examineRights } from '../../services/cli/doctor/doctor-rights.ts'
import { installRepair } from '../../services/cli/doctor/install-repair.ts'
import { ProcessRegister } from '../../services/supervisor/leftovers.ts'
import { readConfig } from '../../shared/config.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { takeLock } from '../../shared/home-lock.ts'
import { rotateSigningKey } from '../../shared/keys/signing-key.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { redisServerCommand } from '../../shared/redis-server.ts'
import { runAstra } from '../support/cli.ts'

let folder: string
let home: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'astra-fix-')))
  home = join(folder, 'astra')
  mkdirSync(home, { mode: 0o700 })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

type Report = {
  healthy: boolean
  checks: { name: string; result: string; found: string }[]
  repairs: { check: string; does: string; done: boolean; problem: string | null }[]
}

async function doctor(
  ...args: string[]
): Promise<Report & { stderr: string; code: number | null }> {
  const { stdout, stderr, code } = await runAstra(['doctor', '--json', ...args], { home: folder })
  return { ...JSON.parse(stdout), stderr, code }
}
const mode = (path: string) => statSync(join(home, path)).mode & 0o777

/** Everything below the home: its mode, and of a file its time and its bytes. */
function everything(): Record<string, string> {
  const names = readdirSync(home, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names.map((name) => {
      const stats = lstatSync(join(home, name))
      const bytes = stats.isFile()
        ? `${stats.mtimeMs} ${sha256(readFileSync(join(home, name)))}`
        : ''
      return [name, `${stats.mode} ${bytes}`]
    }),
  )
}

/** Data as the private Redis leaves it. */
async function writeRedisData(keys: number): Promise<string> {
  const data = join(home, 'redis')
  mkdirSync(data, { mode: 0o700 })
  await withRedis(async (redis) => {
    for (let at = 0; at < keys; at += 1) await redis.set(`key-${at}`, 'v'.repeat(100))
  })
  return join(data, 'appendonlydir')
}

async function withRedis<T>(
  use: (redis: ReturnType<typeof connectOrFail>) => Promise<T>,
): Promise<T> {
  const socket = join(folder, 'redis.sock')
  const { server, args } = redisServerCommand({ data: join(home, 'redis'), socket }, process.env)
  const child = spawn(server, args, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const redis = connectOrFail({ path: socket }, { waitMs: 30_000 })
  redis.on('error', () => {})
  try {
    return await use(redis)
  } finally {
    redis.disconnect()
    child.kill('SIGTERM')
    await ended
  }
}

/** A socket whose owner was killed. */
async function leaveSocket(path: string): Promise<void> {
  const source = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`
  await once(spawn(process.execPath, ['-e', source, path]), 'exit')
}

function incrementalFile(data: string): string {
  const name = readdirSync(data).find((each) => each.endsWith('.incr.aof'))
  return join(data, name ?? 'none')
}

describe('doctor --fix', () => {
  it('mends rights, what was left behind and a damaged end, each after saying so', async () => {
    rotateSigningKey(home)
    for (const name of ['memory', 'logs', 'run', 'runs']) mkdirSync(join(home, name))
    writeFileSync(join(home, 'logs', 'embedder.log'), 'kept')
    chmodSync(home, 0o755)
    chmodSync(join(home, 'keys', 'signing.pem'), 0o644)
    chmodSync(join(home, 'logs', 'embedder.log'), 0o444)
    chmodSync(join(home, 'memory'), 0o500)
    const data = await writeRedisData(20)
    appendFileSync(incrementalFile(data), 'what a crash left')
    const scratch = join(home, 'runs', 'verify-00000000-0000-0000-0000-000000000000')
    mkdirSync(scratch)
    utimesSync(scratch, 1, 1)
    takeLock(join(home, 'run', 'supervisor.lock'))?.release()
    const left = spawn('sleep', ['600'])
    const ended = once(left, 'exit')
    new ProcessRegister(join(home, 'run', 'processes.json')).add('embedder', left.pid ?? 0)
    const socket = join(home, 'run', 'supervisor.sock')
    await leaveSocket(socket)
    const tests = join(tmpdir(), `astra-test-${sha256(home).slice(0, 12)}-4000000-1-abc`)
    mkdirSync(tests)

    const before = everything()
    const first = await doctor()
    expect(everything()).toEqual(before)
    expect(first.repairs).toBe(undefined)
    const found = first.checks.filter(({ result }) => result !== 'ok').map(({ name }) => name)
    expect(found).toEqual(['data folder', 'leftovers', 'redis', 'api key'])
    expect(first).toMatchObject({ healthy: false, code: 1 })

    const fixed = await doctor('--fix')
    expect(fixed.repairs.map(({ check, done }) => [check, done])).toEqual([
      ['data folder', true],
      ['leftovers', true],
      ['redis', true],
    ])
    for (const { check, does } of fixed.repairs) expect(fixed.stderr).toContain(`${check}: ${does}`)
    expect(fixed).toMatchObject({ healthy: true, code: 0 })
    expect(['', 'memory', 'logs'].map(mode)).toEqual([0o700, 0o700, 0o755])
    expect([mode('keys/signing.pem'), mode('logs/embedder.log')]).toEqual([0o600, 0o644])
    expect((await ended)[1]).toBe('SIGKILL')
    expect([socket, tests, scratch].filter((path) => existsSync(path))).toEqual([])
    const copies = readdirSync(join(home, 'redis')).filter((name) => name !== 'appendonlydir')
    expect(copies).toEqual([expect.stringMatching(/^appendonlydir-\d{8}T\d+Z$/)])
    const copy = join(home, 'redis', copies[0] ?? '')
    expect(readFileSync(incrementalFile(copy), 'utf8')).toMatch(/what a crash left$/)
    expect(await withRedis((redis) => redis.dbsize())).toBe(20)
  })

  it('leaves a sound installation as it is', async () => {
    rotateSigningKey(home)
    await writeRedisData(3)
    const before = everything()
    const { repairs, healthy } = await doctor('--fix')
    expect(repairs).toEqual([])
    expect(healthy).toBe(true)
    expect(everything()).toEqual(before)
  })
})

it.each([
  ['a command far from the end', '.incr.aof', '*3\r\n', 1_000],
  ['the base', '.base.rdb', 'REDIS', 0],
  ['the manifest', '.manifest', 'file', 0],
] as const)('data of Redis that is damaged in %s is a matter for a person', async (...given) => {
  const [, ending, where, from] = given
  const data = await writeRedisData(2_000)
  const file = join(data, readdirSync(data).find((name) => name.endsWith(ending)) ?? 'none')
  const bytes = readFileSync(file)
  bytes.write('damage', bytes.indexOf(where, from))
  writeFileSync(file, bytes)
  const finding = await examineAppendOnly(readConfig({ ASTRA_HOME: home }), process.env)
  expect(finding).toMatchObject({
    result: 'fail',
    found: expect.stringContaining('is damaged, and not only at its end'),
    advice: expect.stringContaining('--fix'),
  })
  expect(finding?.repair).toBe(undefined)
  expect(readFileSync(file).equals(bytes)).toBe(true)
})

it('a cut is not made while services have the lock', async () => {
  const data = await writeRedisData(2)
  appendFileSync(incrementalFile(data), 'rest')
  mkdirSync(join(home, 'run'))
  const finding = await examineAppendOnly(readConfig({ ASTRA_HOME: home }), process.env)
  const lock = takeLock(join(home, 'run', 'supervisor.lock'))
  await expect(finding?.repair?.run()).rejects.toThrow('services run by now')
  expect(readdirSync(join(home, 'redis'))).toEqual(['appendonlydir'])
  lock?.release()
})

it('a supervisor that does not answer is named, and left to a person', async () => {
  mkdirSync(join(home, 'run'), { mode: 0o700 })
  const deaf = createServer(() => {}).listen(join(home, 'run', 'supervisor.sock'))
  await once(deaf, 'listening')
  const { checks } = await doctor('--fix')
  expect(checks.find(({ name }) => name === 'services')).toMatchObject({
    result: 'fail',
    found: 'the supervisor did not answer in time',
    advice: expect.stringContaining('end that process'),
  })
  expect(existsSync(join(home, 'run', 'supervisor.sock'))).toBe(true)
  deaf.close()
})

it('rights that say more than who may read and write stay as they are', async () => {
  mkdirSync(join(home, 'memory'))
  chmodSync(join(home, 'memory'), 0o2500)
  await (await examineRights(home))?.repair?.run()
  expect(statSync(join(home, 'memory')).mode & 0o7777).toBe(0o2700)
})

it('rights of a link, or of what it leads to, are not changed', async () => {
  writeFileSync(join(folder, 'elsewhere'), '')
  chmodSync(join(folder, 'elsewhere'), 0o444)
  mkdirSync(join(home, 'dashboard'))
  symlinkSync(join(folder, 'elsewhere'), join(home, 'dashboard', 'token'))
  expect(await examineRights(home)).toBe(null)
})

describe('a program that is missing', () => {
  const isRoot = process.getuid?.() === 0
  it.skipIf(!isRoot)('is installed by apt as root, and only with consent', async () => {
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    const record = join(folder, 'called')
    writeFileSync(join(bin, 'apt-get'), `#!/bin/sh\necho "$@" > '${record}'\n`)
    chmodSync(join(bin, 'apt-get'), 0o755)
    const { repair } = installRepair('bubblewrap', { PATH: bin })
    expect(repair).toMatchObject({
      needsConsent: true,
      does: 'apt-get install -y --no-install-recommends bubblewrap',
    })
    await repair?.run()
    expect(readFileSync(record, 'utf8')).toBe('install -y --no-install-recommends bubblewrap\n')
  })

  it('says that --yes is nothing by itself', async () => {
    const { code, stdout } = await runAstra(['doctor', '--yes', '--json'], { home: folder })
    expect(JSON.parse(stdout).error.message).toMatch(/--yes says something only with --fix/)
    expect(code).toBe(2)
  })
})
