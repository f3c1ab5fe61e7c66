import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { withOwnRedis } from '../../services/cli/backup/own-redis.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { readConfig } from '../../shared/config.ts'
import { listRunViews } from '../../shared/contracts/run-view.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { takeLock } from '../../shared/home-lock.ts'
import { loadSigningKey, readSigningKey } from '../../shared/keys/signing-key.ts'
import { listTrustedKeys } from '../../shared/keys/trusted-keys.ts'
import { readDecision } from '../../shared/pending-restore.ts'
import { readCosts } from '../../shared/read-costs.ts'
import { runAstra } from '../support/cli.ts'
import { openLedger, readEvidence } from '../support/ledger.ts'
import { limits, makeBackup, repack } from '../support/made-backup.ts'
import { placeOldStore } from '../support/old-stores.ts'
import { failToStart } from '../support/service-process.ts'

let folder: string
let file: string
let home: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-restore-'))
  file = join(folder, 'backup.tar.zst')
  await makeBackup(file)
})
afterAll(() => rm(folder, { recursive: true, force: true }))
beforeEach(async () => {
  home = join(await mkdtemp(join(folder, 'person-')), 'astra')
})
afterEach(() => rm(join(home, '..'), { recursive: true, force: true }))

const restore = (args: string[] = [], env: Record<string, string> = {}, from = file) =>
  runAstra(['restore', from, ...args], { home: join(home, '..'), env })

const withRedis = <T>(use: Parameters<typeof withOwnRedis<T>>[2]) =>
  withOwnRedis(join(home, 'redis'), process.env, use)

async function recordsOf(at: string) {
  const store = openSqliteBackend({ file: join(at, 'memory', 'memory.db'), dimensions: DIMENSIONS })
  const { records } = await store.list({ limit: 100, offset: 0, session_id: null })
  await store.close()
  return records
    .map(({ session_id, shown, revoked_at }) => `${session_id} ${shown} ${revoked_at}`)
    .sort()
}

const backedUp = ['run-1 1 null', 'run-2 2 null', 'run-3 3 2026-11-02T00:00:00Z']

const costs = () =>
  withRedis((redis) => {
    const question = { days: 7, run: null, now: new Date() }
    return readCosts(redis, readConfig({ ASTRA_HOME: home }), question)
  })

/** An installation that has been used since, whose ledger has settled 900 and holds 50. */
async function usedHome(): Promise<void> {
  placeOldStore(home, 6)
  await mkdir(join(home, 'runs', 'run-of-here'), { recursive: true })
  await withRedis(async (redis) => {
    const ledger = openLedger(redis, home)
    await ledger.hold('run-of-here', '1.1', 900, limits)
    await ledger.sent('run-of-here', '1.1')
    await ledger.settle('run-of-here', '1.1', 900)
    await ledger.hold('run-of-here', '2.1', 50, limits)
  })
}

const sessionsOfHere = [1, 2, 3, 4, 5, 6].map((n) => expect.stringContaining(`run-${n} `))

async function expectUsedHomeUntouched(): Promise<void> {
  expect(await recordsOf(home)).toEqual(sessionsOfHere)
  expect(existsSync(join(home, 'runs', 'run-of-here'))).toBe(true)
  expect((await costs()).live.project).toMatchObject({ settled_microusd: 900, held_microusd: 50 })
  expect(readdirSync(home).filter((name) => /^(restoring|replaced)/.test(name))).toEqual([])
}

async function expectRestored(): Promise<void> {
  expect(await recordsOf(home)).toEqual(backedUp)
  expect(readSigningKey(home)?.keyId).toMatch(/^[0-9a-f]{16}$/)
  expect(readFileSync(join(home, 'runs', 'run-1', 'transcript.jsonl'), 'utf8')).toBe('run-1\n')
  expect(existsSync(join(home, 'restoring'))).toBe(false)
}

it('puts all of a backup into an empty home, for its owner alone', async () => {
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const result = await restore(['--json'])
  expect(result).toMatchObject({ code: 0 })
  expect(JSON.parse(result.stdout)).toMatchObject({
    counts: { records: 3, runs: 2, trusted_keys: 1 },
    replaced: null,
    spent: { live: { held: 0, sent: 200, settled: 300 }, notional: { settled: 0 } },
  })
  await expectRestored()
  expect(statSync(join(home, 'keys', 'signing.pem')).mode & 0o777).toBe(0o600)
  const { live } = await costs()
  expect(live.project).toMatchObject({ sent_microusd: 200, settled_microusd: 300 })
  expect(live.runs.map(({ run_id }) => run_id).sort()).toEqual(['run-1', 'run-2'])
  const views = await withRedis((redis) => listRunViews(redis, 10))
  expect(views.map(({ run_id, status }) => `${run_id} ${status}`).sort()).toEqual([
    'run-1 fixed',
    'run-3 cancelled',
  ])
})

it('lets nobody hold money for a run of before, and settles what was sent in full', async () => {
  expect(await restore()).toMatchObject({ code: 0 })
  await withRedis(async (redis) => {
    const ledger = openLedger(redis, home)
    expect(await ledger.hold('run-2', '2.1', 1, limits)).toEqual({
      granted: false,
      limit: null,
      state: 'closed',
    })
    expect(await ledger.openRuns(0)).toEqual(['run-2'])
    await ledger.closeRun('run-2', new Map())
  })
  expect((await costs()).live.project).toMatchObject({ sent_microusd: 0, settled_microusd: 500 })
})

it('refuses a home with data, and leaves it alone', async () => {
  await usedHome()
  const result = await restore()
  expect(result).toMatchObject({ code: 2 })
  expect(result.stderr).toMatch(/holds data already: memory, ledger, keys, redis, runs\n.*--force/)
  await expectUsedHomeUntouched()
})

it('refuses while a supervisor has the home', async () => {
  await mkdir(join(home, 'run'), { recursive: true })
  const lock = takeLock(join(home, 'run', 'supervisor.lock'))
  const result = await restore(['--force'])
  lock?.release()
  expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('the services of') })
  expect(readdirSync(home)).toEqual(['run'])
})

describe('with --force over an installation that was used since', () => {
  it('keeps what was there, and forgets nothing that was spent there or in the backup', async () => {
    await usedHome()
    const result = await restore(['--force', '--json'])
    expect(result).toMatchObject({ code: 0 })
    const { replaced, spent } = JSON.parse(result.stdout)
    expect(spent.live).toEqual({ held: 50, sent: 200, settled: 1200 })
    await expectRestored()
    expect(await recordsOf(replaced)).toEqual(sessionsOfHere)
    const { live } = await costs()
    expect(live.project).toMatchObject({
      held_microusd: 50,
      sent_microusd: 200,
      settled_microusd: 1200,
    })
    expect(live.today).toMatchObject({
      held_microusd: 50,
      sent_microusd: 200,
      settled_microusd: 1200,
    })
    expect((await readEvidence(home, 'live')).map(({ run }) => run)).toContain('run-of-here')
    const refused = await withRedis((redis) =>
      openLedger(redis, home).hold('run-new', '1.1', 100, { ...limits, project: 1500 }),
    )
    expect(refused).toEqual({ granted: false, limit: 'project', leftMicrousd: 50 })
  })

  it('knows by the evidence alone what was spent there, when its Redis is lost', async () => {
    await usedHome()
    await rm(join(home, 'redis'), { recursive: true })
    expect(await restore(['--force'])).toMatchObject({ code: 0 })
    const { live } = await costs()
    expect(live.project).toMatchObject({
      held_microusd: 50,
      sent_microusd: 200,
      settled_microusd: 1200,
    })
  })

  it('changes nothing of the ledger when the same backup is restored again', async () => {
    expect(await restore()).toMatchObject({ code: 0 })
    const once = (await costs()).live
    expect(await restore(['--force'])).toMatchObject({ code: 0 })
    expect((await costs()).live).toEqual(once)
    expect(await readEvidence(home, 'live')).toHaveLength(5)
  })
})

describe('killed', () => {
  it('before all is ready and decided, it leaves the present, and is made again', async () => {
    await usedHome()
    const killed = await restore(['--force'], { ASTRA_CRASH_AT: 'restore.ready' })
    expect(killed.code).toBe(null)
    expect(readDecision(home)).toBe(null)
    await rm(join(home, 'restoring'), { recursive: true })
    await expectUsedHomeUntouched()
    expect(await restore(['--force'])).toMatchObject({ code: 0 })
    await expectRestored()
  })

  it.each([
    'restore.decided',
    'restore.moved-aside@1',
    'restore.moved-aside@3',
    'restore.part-placed@2',
  ])('at %s, no service starts on the mixture, and the same command ends it', async (point) => {
    await usedHome()
    const killed = await restore(['--force'], { ASTRA_CRASH_AT: point })
    expect(killed.code).toBe(null)
    const refused = await failToStart('memory-store', home)
    expect(refused.output).toContain('a restore of')
    expect(await restore()).toMatchObject({ code: 0 })
    await expectRestored()
    expect((await costs()).live.project.settled_microusd).toBe(1200)
    const [replaced = ''] = readdirSync(home).filter((name) => name.startsWith('replaced-'))
    expect(await recordsOf(join(home, replaced))).toEqual(sessionsOfHere)
  })

  it('after it is decided, the next start of services ends it before it starts anything', async () => {
    await usedHome()
    await restore(['--force'], { ASTRA_CRASH_AT: 'restore.moved-aside@2' })
    expect(readDecision(home)).not.toBe(null)
    const verified = await runAstra(['memory', 'verify', '--json'], { home: join(home, '..') })
    expect(verified, verified.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse(verified.stdout)).toMatchObject({ proved: 3 })
    expect(readDecision(home)).toBe(null)
    await expectRestored()
  })
})

it('leaves the signing key that is here when the backup has none, and trusts the keys of both', async () => {
  const own = loadSigningKey(home).keyId
  const without = join(folder, 'without-key.tar.zst')
  await repack(file, without, async (_unpacked, { parts }) => ({
    signing_key: false,
    parts: parts.filter(({ name }) => name !== 'keys/signing.pem'),
  }))
  expect(await restore(['--force'], {}, without)).toMatchObject({ code: 0 })
  expect(readSigningKey(home)?.keyId).toBe(own)
  const trusted = listTrustedKeys(home).map(({ key_id }) => key_id)
  expect(trusted).toHaveLength(2)
  expect(trusted).toContain(own)
})

describe('a memory of another version', () => {
  async function withStore(target: string, schema: number, change: (db: DatabaseSync) => void) {
    await repack(file, target, async (unpacked, { counts, parts }) => {
      await rm(join(unpacked, 'memory'), { recursive: true })
      await cp(
        placeOldStore(join(folder, `old-${schema}`), schema),
        join(unpacked, 'memory', 'memory.db'),
      )
      const db = new DatabaseSync(join(unpacked, 'memory', 'memory.db'))
      change(db)
      const version = Number(db.prepare('PRAGMA user_version').get()?.user_version)
      db.close()
      return {
        store: { kind: 'sqlite', schema: version },
        counts: { ...counts, records: 6 },
        parts,
      }
    })
  }

  it('is migrated when it is older', async () => {
    const older = join(folder, 'older.tar.zst')
    await withStore(older, 3, () => {})
    expect(await restore([], {}, older)).toMatchObject({ code: 0 })
    expect(await recordsOf(home)).toEqual(sessionsOfHere)
  })

  it('is refused when it is newer, and nothing is touched', async () => {
    await usedHome()
    const newer = join(folder, 'newer.tar.zst')
    await withStore(newer, 6, (db) => db.exec('PRAGMA user_version = 99'))
    const result = await restore(['--force'], {}, newer)
    expect(result).toMatchObject({ code: 2 })
    expect(result.stderr).toMatch(
      /schema version 99, of Astra .*, and this program knows up to \d+\n.*update/,
    )
    await expectUsedHomeUntouched()
  })
})
