import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { listDependencies } from '../../services/cli/snapshot/list-dependencies.ts'
import { arrivedFolder, arriveTree } from '../../shared/blobs/arrive-tree.ts'
import { type Blobs, getContent, openBlobs, putContent } from '../../shared/blobs/blobs.ts'
import { publishTree } from '../../shared/blobs/publish-tree.ts'
import { type Tree, type TreeRef, treeSchema } from '../../shared/blobs/tree.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { connectOrFail } from '../../shared/queue/connection.ts'
import { isRedisFault } from '../../shared/queue/redis-fault.ts'
import { connectTo, type NetworkRedis, startNetworkRedis } from '../support/network-redis.ts'

const compress = promisify(zstdCompress)

let redis: NetworkRedis
let connection: ReturnType<typeof connectOrFail>
let folder = ''
let opened: Blobs[] = []
beforeAll(async () => {
  redis = await startNetworkRedis()
  connection = connectTo(redis)
})
afterAll(async () => {
  connection.disconnect()
  await redis.stop()
})
beforeEach(async () => {
  await connection.flushall()
  folder = await mkdtemp(join(tmpdir(), 'astra-blobs-'))
})
afterEach(async () => {
  for (const blobs of opened) blobs.close()
  opened = []
  await rm(folder, { recursive: true, force: true })
})

function open(settings: { shared?: string; megabytes?: number } = {}): Blobs {
  const { shared, megabytes = 32 } = settings
  const blobs = openBlobs({
    redis: { url: redis.url },
    ASTRA_SHARED_DIR: shared,
    ASTRA_SNAPSHOT_REDIS_MB: megabytes,
  })
  if (!blobs) throw new Error('there is a fleet')
  opened.push(blobs)
  return blobs
}

async function filled(name: string, files: Record<string, string | Buffer>): Promise<string> {
  const root = join(folder, name)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return root
}

async function published(blobs: Blobs, root: string): Promise<TreeRef> {
  const ref = await publishTree(blobs, await listDependencies(root))
  if (!ref) throw new Error('it is too large')
  return ref
}

const blobKeys = async () => (await connection.keys('{astra}:blob:*')).sort()

/** All commands that reach Redis while `use` runs, as `monitor` tells them. */
async function commandsDuring(use: () => Promise<unknown>): Promise<string[][]> {
  const monitor = await connection.monitor()
  const commands: string[][] = []
  const seen = new Promise<void>((resolve) => {
    monitor.on('monitor', (_time: string, args: string[]) => {
      if (args[1] === 'over') resolve()
      else commands.push(args)
    })
  })
  await use()
  await connection.echo('over')
  await seen
  monitor.disconnect()
  return commands
}

/** A shared folder, without its mount point it does not exist. */
async function sharedFolder(): Promise<string> {
  const shared = join(folder, 'shared')
  await mkdir(shared)
  return shared
}

describe('contents', () => {
  it('are handed from one machine to another by their hash', async () => {
    const hash = await putContent(open(), 'it', Buffer.from('text'))
    expect(hash).toBe(sha256('text'))
    const bytes = await getContent(open(), 'it', { sha256: hash, maxBytes: 4 })
    expect(new TextDecoder().decode(bytes)).toBe('text')
  })

  it('live on from each use: when they are read, and when they are sent again', async () => {
    const hash = await putContent(open(), 'it', Buffer.from('text'))
    const [key = ''] = await blobKeys()
    const isRenewed = async () => (await connection.ttl(key)) > 29 * 24 * 3600
    expect(await isRenewed()).toBe(true)
    await connection.expire(key, 100)
    await getContent(open(), 'it', { sha256: hash, maxBytes: 4 })
    expect(await isRenewed()).toBe(true)
    await connection.expire(key, 100)
    await putContent(open(), 'it', Buffer.from('text'))
    expect(await isRenewed()).toBe(true)
  })

  it('that are gone are named, with what to do', async () => {
    const asked = getContent(open(), 'the patch of run a', { sha256: sha256('x'), maxBytes: 9 })
    await expect(asked).rejects.toThrow(/the patch of run a is not where the fleet keeps it/)
  })

  it('that were damaged are not given out, and are removed, so that they can be sent again', async () => {
    const hash = await putContent(open(), 'it', Buffer.from('text'))
    const [key = ''] = await blobKeys()
    for (const damaged of [await compress(Buffer.from('TEXT')), Buffer.from('no zstd')]) {
      await connection.set(key, damaged)
      const asked = getContent(open(), 'it', { sha256: hash, maxBytes: 4 })
      await expect(asked).rejects.toThrow(/not where the fleet keeps it/)
      expect(await blobKeys()).toEqual([])
    }
    await putContent(open(), 'it', Buffer.from('text'))
    await getContent(open(), 'it', { sha256: hash, maxBytes: 4 })
  })

  it('that would be unpacked to more than was said are refused', async () => {
    const bomb = Buffer.alloc(50_000_000)
    const hash = sha256(bomb)
    await connection.set(`{astra}:blob:${hash}`, await compress(bomb))
    const asked = getContent(open(), 'it', { sha256: hash, maxBytes: 1_000 })
    await expect(asked).rejects.toThrow(/not where the fleet keeps it/)
  })

  it('that are too large for Redis go through the shared folder, or are refused by size and limit', async () => {
    const bytes = Buffer.alloc(1_500_000, 'a')
    const refused = putContent(open({ megabytes: 1 }), 'the patch', bytes)
    await expect(refused).rejects.toMatchObject({
      message: 'the patch has 1.5 MB, and ASTRA_SNAPSHOT_REDIS_MB is 1',
      hint: expect.stringContaining('ASTRA_SHARED_DIR'),
    })
    const shared = await sharedFolder()
    const hash = await putContent(open({ megabytes: 1, shared }), 'the patch', bytes)
    expect(await blobKeys()).toEqual([])
    const name = { sha256: hash, maxBytes: 2_000_000 }
    expect(await getContent(open({ shared }), 'it', name)).toEqual(bytes)
  })

  it('are nobody’s business with a private Redis', () => {
    const config = { redis: { path: '/x' }, ASTRA_SHARED_DIR: '/y', ASTRA_SNAPSHOT_REDIS_MB: 32 }
    expect(openBlobs(config)).toBeNull()
  })

  it('wait for no Redis that is away: the error is one that a job outlasts', async () => {
    const other = await startNetworkRedis()
    const blobs = openBlobs({
      redis: { url: other.url },
      ASTRA_SHARED_DIR: undefined,
      ASTRA_SNAPSHOT_REDIS_MB: 32,
    })
    if (!blobs) throw new Error('there is a fleet')
    opened.push(blobs)
    await putContent(blobs, 'it', Buffer.from('text'))
    await other.stop()
    const error = await putContent(blobs, 'it', Buffer.from('other')).catch((cause) => cause)
    expect(isRedisFault(error), String(error)).toBe(true)
  })
})

describe('a folder', () => {
  it('arrives with its files, modes, links and empty folders', async () => {
    const root = await filled('node_modules', { 'a/index.js': 'one', 'b/run.sh': 'two', 'c/x': '' })
    await chmod(join(root, 'b/run.sh'), 0o755)
    await chmod(join(root, 'a/index.js'), 0o600)
    await mkdir(join(root, 'empty/inner'), { recursive: true })
    await symlink('../b/run.sh', join(root, 'a/run'))
    await symlink(join(root, 'b'), join(root, 'absolute'))
    await symlink('../packages/own', join(root, 'own'))
    await symlink('/opt/elsewhere', join(root, 'elsewhere'))
    const ref = await published(open(), root)
    const { folder: arrived } = await arriveTree(open(), join(folder, 'b'), 'it', ref)
    expect(await readFile(join(arrived, 'a/index.js'), 'utf8')).toBe('one')
    expect(await readFile(join(arrived, 'c/x'), 'utf8')).toBe('')
    expect(await readdir(join(arrived, 'empty/inner'))).toEqual([])
    // Tests have another uid.
    expect((await stat(join(arrived, 'a/index.js'))).mode & 0o777).toBe(0o644)
    expect((await stat(join(arrived, 'b/run.sh'))).mode & 0o777).toBe(0o755)
    expect(await readlink(join(arrived, 'a/run'))).toBe('../b/run.sh')
    expect(await readlink(join(arrived, 'absolute'))).toBe('b')
    expect(await readlink(join(arrived, 'own'))).toBe(join(folder, 'packages/own'))
    expect(await readlink(join(arrived, 'elsewhere'))).toBe('/opt/elsewhere')
  })

  it('sends a file once, however often it is there, and the second time only what changed', async () => {
    const many = Object.fromEntries([1, 2, 3].map((n) => [`${n}/same.js`, 'same']))
    const root = await filled('node_modules', { ...many, 'other.js': 'other' })
    await published(open(), root)
    // Two contents and the tree itself.
    expect(await blobKeys()).toHaveLength(3)
    await writeFile(join(root, 'other.js'), 'changed')
    const commands = await commandsDuring(() => published(open(), root))
    const sent = commands.filter(([name]) => name?.toLowerCase() === 'set')
    expect(sent.map(([, key]) => key)).toContain(`{astra}:blob:${sha256('changed')}`)
    expect(sent).toHaveLength(2)
  })

  it('goes through the shared folder when it is too large, and is told of when there is none', async () => {
    const root = await filled('node_modules', { 'big.bin': Buffer.alloc(1_200_000, 'b') })
    expect(await publishTree(open({ megabytes: 1 }), await listDependencies(root))).toBeNull()
    const shared = await sharedFolder()
    const ref = await published(open({ megabytes: 1, shared }), root)
    expect(ref.place).toBe('shared')
    expect(await blobKeys()).toEqual([])
    const there = await arriveTree(open({ shared }), join(folder, 'b'), 'it', ref)
    expect((await stat(join(there.folder, 'big.bin'))).size).toBe(1_200_000)
    const without = arriveTree(open(), join(folder, 'c'), 'it', ref)
    await expect(without).rejects.toThrow('this machine has no ASTRA_SHARED_DIR')
    await rm(shared, { recursive: true })
    const unmounted = arriveTree(open({ shared }), join(folder, 'd'), 'it', ref)
    await expect(unmounted).rejects.toThrow(/is no folder on this machine/)
    expect(existsSync(shared)).toBe(false)
  })

  it('arrives once for two who ask at once, and again for nobody', async () => {
    const root = await filled('node_modules', { 'a.js': 'one', 'b.js': 'two' })
    const ref = await published(open(), root)
    const home = join(folder, 'b')
    const both = await Promise.all([1, 2].map(() => arriveTree(open(), home, 'it', ref)))
    expect(both[0]?.folder).toBe(both[1]?.folder)
    expect(await readdir(arrivedFolder(home))).toEqual([ref.sha256])
    await connection.flushall()
    expect((await arriveTree(open(), home, 'it', ref)).tree.files).toHaveLength(2)
  })

  it('leaves nothing behind when a part is gone or was damaged', async () => {
    const root = await filled('node_modules', { 'a.js': 'one', 'b.js': 'two' })
    const ref = await published(open(), root)
    const home = join(folder, 'b')
    await connection.set(`{astra}:blob:${sha256('two')}`, await compress(Buffer.from('TWO')))
    await expect(arriveTree(open(), home, 'it', ref)).rejects.toThrow(/b\.js of it is not where/)
    await connection.del(`{astra}:blob:${sha256('two')}`)
    await expect(arriveTree(open(), home, 'it', ref)).rejects.toThrow(/b\.js of it is not where/)
    expect(await readdir(arrivedFolder(home))).toEqual([])
    // Sent again, it arrives.
    await published(open(), root)
    expect(existsSync((await arriveTree(open(), home, 'it', ref)).folder)).toBe(true)
  })

  it('of which a kill left a half is made anew, and the half is not looked at', async () => {
    const root = await filled('node_modules', { 'a.js': 'one' })
    const ref = await published(open(), root)
    const home = join(folder, 'b')
    // What `arriveTree` leaves behind when its process dies while it writes.
    await mkdir(join(arrivedFolder(home), '.arriving-0123456789ab', 'files'), { recursive: true })
    const { folder: arrived } = await arriveTree(open(), home, 'it', ref)
    expect(await readdir(arrived)).toEqual(['a.js'])
  })

  it('is all or nothing for a process that is killed while it writes', async () => {
    const files = Array.from({ length: 800 }, (_, n) => [`${n}.bin`, randomBytes(20_000)] as const)
    const root = await filled('node_modules', Object.fromEntries(files))
    const ref = await published(open(), root)
    const home = join(folder, 'b')
    const child = spawn(process.execPath, ['--input-type=module', '--eval', arriving(home, ref)])
    const ended = once(child, 'exit')
    await expect
      .poll(async () => (await readdir(arrivedFolder(home)).catch(() => [])).length, {
        interval: 1,
      })
      .toBeGreaterThan(0)
    child.kill('SIGKILL')
    await ended
    const [left = ''] = await readdir(arrivedFolder(home))
    expect(left).toMatch(/^\.arriving-/)
    const { folder: arrived } = await arriveTree(open(), home, 'it', ref)
    expect(await readdir(arrived)).toHaveLength(800)
  })

  it('says that it is in use each time', async () => {
    const root = await filled('node_modules', { 'a.js': 'one' })
    const ref = await published(open(), root)
    const home = join(folder, 'b')
    await arriveTree(open(), home, 'it', ref)
    const place = join(arrivedFolder(home), ref.sha256)
    await utimes(place, new Date(0), new Date(0))
    await arriveTree(open(), home, 'it', ref)
    expect(Date.now() - (await stat(place)).mtimeMs).toBeLessThan(60_000)
  })
})

/** A program that brings a tree to a machine. */
function arriving(home: string, ref: TreeRef): string {
  const blobs = join(import.meta.dirname, '../../shared/blobs')
  const config = { redis: { url: redis.url }, ASTRA_SNAPSHOT_REDIS_MB: 32 }
  return `
    import { arriveTree } from '${blobs}/arrive-tree.ts'
    import { openBlobs } from '${blobs}/blobs.ts'
    const blobs = openBlobs(${JSON.stringify(config)})
    await arriveTree(blobs, ${JSON.stringify(home)}, 'it', ${JSON.stringify(ref)})
  `
}

describe('a folder that somebody made by hand', () => {
  const file = (path: string) => ({ path, sha256: sha256('x'), mode: 0o644, size: 1 })
  const nothing: Tree = { files: [], links: [], folders: [] }
  const hostile: [string, Tree][] = [
    ['a path that leads out', { ...nothing, files: [file('../../evil')] }],
    ['an absolute path', { ...nothing, files: [file('/tmp/evil')] }],
    ['an empty part', { ...nothing, files: [file('a//b')] }],
    ['a NUL', { ...nothing, files: [file('a\0b')] }],
    ['a folder that leads out', { ...nothing, folders: ['a/../../b'] }],
    ['a path twice', { ...nothing, files: [file('a'), file('a')] }],
    ['a file below a file', { ...nothing, files: [file('a'), file('a/b')] }],
    [
      'a file behind a link',
      { ...nothing, links: [{ path: 'a', target: '/tmp' }], files: [file('a/evil')] },
    ],
    [
      'a link behind a link',
      {
        ...nothing,
        links: [
          { path: 'a', target: '/tmp' },
          { path: 'a/b', target: '/etc' },
        ],
      },
    ],
    ['a link that leads out', { ...nothing, links: [{ path: 'a/b', target: '../../evil' }] }],
    ['a link with a NUL', { ...nothing, links: [{ path: 'a', target: 'b\0c' }] }],
  ]

  it.each(hostile)('with %s is refused, and nothing is written', async (_what, tree) => {
    const blobs = open()
    await putContent(blobs, 'it', Buffer.from('x'))
    const bytes = Buffer.from(JSON.stringify(treeSchema.parse(tree)))
    const hash = await putContent(blobs, 'it', bytes)
    const ref = { sha256: hash, size: bytes.length, bytes: 1, place: 'redis' as const }
    const home = join(folder, 'b')
    await expect(arriveTree(blobs, home, 'it', ref)).rejects.toMatchObject({ code: 'hostile_tree' })
    expect(existsSync(arrivedFolder(home))).toBe(false)
  })

  it('with a mode of more than rights is refused', async () => {
    const blobs = open()
    const tree = { ...nothing, files: [{ ...file('a'), mode: 0o4755 }] }
    const bytes = Buffer.from(JSON.stringify(tree))
    const hash = await putContent(blobs, 'it', bytes)
    const ref = { sha256: hash, size: bytes.length, bytes: 1, place: 'redis' as const }
    await expect(arriveTree(blobs, join(folder, 'b'), 'it', ref)).rejects.toThrow(/mode/)
  })
})

describe('a real node_modules', () => {
  it('runs its programs where it has arrived', async () => {
    const semver = join(import.meta.dirname, '../../node_modules/semver')
    const root = await filled('node_modules', { '.bin/none': '' })
    spawnSync('cp', ['-a', semver, join(root, 'semver')])
    await symlink('../semver/bin/semver.js', join(root, '.bin/semver'))
    const ref = await published(open(), root)
    const { folder: arrived } = await arriveTree(open(), join(folder, 'b'), 'it', ref)
    const ran = spawnSync(process.execPath, [join(arrived, '.bin/semver'), '1.2.3', '-i', 'minor'])
    expect(ran.stdout.toString().trim()).toBe('1.3.0')
  })
})
