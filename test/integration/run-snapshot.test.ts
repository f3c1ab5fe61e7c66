import { existsSync } from 'node:fs'
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { saveObject } from '../../services/agent-runner/files/tree.ts'
import { repeatRun } from '../../services/cli/copy-run.ts'
import { publishRun } from '../../services/cli/fix-workspace.ts'
import { applyRun } from '../../services/cli/patch/apply-run.ts'
import { takeSnapshot } from '../../services/cli/snapshot/snapshot.ts'
import { openRun } from '../../services/test-runner/run/open-run.ts'
import { chooseSandbox } from '../../services/test-runner/sandbox/choose-sandbox.ts'
import { arrivedFolder } from '../../shared/blobs/arrive-tree.ts'
import { type Blobs, getContent, openBlobs } from '../../shared/blobs/blobs.ts'
import { removeUnused } from '../../shared/blobs/remove-unused.ts'
import { bringDependencies } from '../../shared/bring-dependencies.ts'
import { readConfig } from '../../shared/config.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { Patch } from '../../shared/contracts/patch.ts'
import { UNSAFE_FLAG } from '../../shared/contracts/supervisor.ts'
import type { connectOrFail } from '../../shared/queue/connection.ts'
import { isRedisFault } from '../../shared/queue/redis-fault.ts'
import {
  loadPatch,
  loadTranscript,
  runFiles,
  savePatch,
  saveTranscript,
} from '../../shared/run-files.ts'
import { findManifest, findSnapshot } from '../../shared/run-snapshot.ts'
import { materialise } from '../../shared/workspace.ts'
import { connectTo, type NetworkRedis, startNetworkRedis } from '../support/network-redis.ts'
import { sampleView } from '../support/run-view.ts'

const DAY_MS = 24 * 3600 * 1000
const patch: Patch = { files: [{ path: 'a.js', before: sha256('one\n'), after: 'ONE\n' }] }

let redis: NetworkRedis
let connection: ReturnType<typeof connectOrFail>
/** Two machines' data folders, and the workspace that only the first one has. */
let folder = ''
let here = ''
let there = ''
let workspace = ''
let blobs: Blobs

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
  folder = await mkdtemp(join(tmpdir(), 'astra-travel-'))
  here = join(folder, 'here')
  there = join(folder, 'there')
  workspace = join(folder, 'shop')
  await write({ 'a.js': 'one\n', 'node_modules/pad/index.js': 'pad' })
  blobs = fleet()
})
afterEach(async () => {
  blobs.close()
  await rm(folder, { recursive: true, force: true })
})

function fleet(megabytes = 32): Blobs {
  const settings = { ASTRA_SHARED_DIR: undefined, ASTRA_SNAPSHOT_REDIS_MB: megabytes }
  const opened = openBlobs({ redis: { url: redis.url }, ...settings })
  if (!opened) throw new Error('there is a fleet')
  return opened
}

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true })
    await writeFile(join(workspace, path), text)
  }
}

const services = (home: string, use = blobs) => ({
  config: readConfig({ ASTRA_HOME: home, REDIS_URL: redis.url }),
  blobs: use,
})

async function asked(runId: string, home = here): Promise<void> {
  await takeSnapshot({ home, runId, workspace })
  await publishRun(services(home), runId)
}

const filesOf = (home: string, runId = 'run-a') => runFiles(home, runId, blobs)

describe('the snapshot of a run', () => {
  it('is used in place on the machine where it was taken, and arrives on others', async () => {
    await asked('run-a')
    const own = await findSnapshot(filesOf(here))
    expect(own).toMatchObject({ base: filesOf(here).base, arrived: null })
    expect(existsSync(arrivedFolder(here))).toBe(false)
    const other = await findSnapshot(filesOf(there))
    expect(await readFile(join(other.base, 'a.js'), 'utf8')).toBe('one\n')
    expect(other.manifest).toEqual(own.manifest)
    expect(existsSync(join(other.base, 'node_modules'))).toBe(false)
  })

  it('arrives once for all runs of the same files', async () => {
    await asked('run-a')
    await asked('run-b')
    const [first, second] = [await findSnapshot(filesOf(there)), filesOf(there, 'run-b')]
    expect((await findSnapshot(second)).base).toBe(first.base)
    expect(await readdir(arrivedFolder(there))).toHaveLength(1)
  })

  it('is not that of another run of the same id which this machine had', async () => {
    await asked('run-a')
    await write({ 'a.js': 'of another run\n' })
    await takeSnapshot({ home: there, runId: 'run-a', workspace })
    const { base } = await findSnapshot(filesOf(there))
    expect(await readFile(join(base, 'a.js'), 'utf8')).toBe('one\n')
  })

  it('is the one that was sent where a restored backup has its list of files alone', async () => {
    await asked('run-a')
    await rm(filesOf(here).base, { recursive: true })
    const { base, arrived } = await findSnapshot(filesOf(here))
    expect(arrived).not.toBeNull()
    expect(await readFile(join(base, 'a.js'), 'utf8')).toBe('one\n')
  })

  it('cannot be taken for a run id that the fleet knows already', async () => {
    await asked('run-a')
    await write({ 'a.js': 'changed\n' })
    await takeSnapshot({ home: there, runId: 'run-a', workspace })
    const published = publishRun(services(there), 'run-a')
    await expect(published).rejects.toThrow('a run run-a exists already in this fleet')
    // The same one may be published again: its first try may have been cut off.
    expect(await publishRun(services(here), 'run-a')).toBeNull()
  })

  it('that a full Redis does not take is told of, with what to do', async () => {
    await connection.config('SET', 'maxmemory', '1')
    try {
      await expect(asked('run-a')).rejects.toMatchObject({
        message: 'Redis did not take the snapshot of the workspace',
        hint: expect.stringContaining('is it full'),
      })
    } finally {
      await connection.config('SET', 'maxmemory', '0')
    }
    await publishRun(services(here), 'run-a')
  })

  it('that is nowhere is named, with what to do', async () => {
    const found = findSnapshot(filesOf(there, 'unknown'))
    await expect(found).rejects.toMatchObject({
      message: 'the snapshot of run unknown is neither here nor in Redis',
      hint: expect.stringContaining('begin the run anew'),
    })
  })

  it('that was altered on its way is refused', async () => {
    await asked('run-a')
    const key = '{astra}:run:run-a:snapshot'
    const told = JSON.parse((await connection.get(key)) ?? '')
    await connection.set(key, JSON.stringify({ ...told, base_tree: sha256('other') }))
    await expect(findSnapshot(filesOf(there))).rejects.toThrow('not the one that was announced')
  })

  it('can be told of without its files', async () => {
    await asked('run-a')
    const manifest = await findManifest(filesOf(there))
    expect(manifest.files.map(({ path }) => path)).toEqual(['a.js'])
    expect(existsSync(arrivedFolder(there))).toBe(false)
  })

  it('costs nothing where there is no fleet', async () => {
    await takeSnapshot({ home: here, runId: 'run-a', workspace })
    await publishRun({ ...services(here), blobs: null }, 'run-a')
    expect(await connection.dbsize()).toBe(0)
    expect((await findSnapshot(runFiles(here, 'run-a'))).arrived).toBeNull()
  })
})

describe('a run that somebody announced by hand', () => {
  const link = (path: string, target: string) => ({ path, target })
  const hostile: [string, (place: string) => object][] = [
    ['stands in a place of the system', () => ({ workspace: '/usr/bin' })],
    ['covers all of the system', () => ({ workspace: '/' })],
    ['has a path with dots', (place) => ({ workspace: `${place}/..` })],
    ['has a relative path', () => ({ workspace: 'shop' })],
    ['shows packages in place of programs', () => ({ link: link('node_modules', '/usr/bin') })],
    ['shows packages in place of what is ours', () => ({ link: link('.venv', '/run') })],
    ['has packages outside of it', (place) => ({ link: link('../../evil', `${place}/venv`) })],
    ['is covered by its packages', (place) => ({ link: link('.venv', place) })],
  ]

  it.each(hostile)('is refused when it %s', async (_what, change) => {
    await asked('run-a')
    const key = '{astra}:run:run-a:snapshot'
    const told = JSON.parse((await connection.get(key)) ?? '')
    const { link: changed, ...rest } = change(workspace) as { link?: object }
    const dependencies = [{ ...told.dependencies[0], ...changed }]
    await connection.set(key, JSON.stringify({ ...told, ...rest, dependencies }))
    await expect(findSnapshot(filesOf(there))).rejects.toMatchObject({ code: 'hostile_run' })
    expect(existsSync(there)).toBe(false)
  })
})

describe('a test-runner on another machine', () => {
  const sandbox = (args: string[] = []) => {
    const limits = { ASTRA_TEST_MEMORY_MB: 512, ASTRA_TEST_DISK_MB: 64, ASTRA_TEST_PROCESSES: 64 }
    return chooseSandbox({ home: there, ...limits }, args)
  }
  const opened = (home: string, args: string[] = []) => {
    const config = { ...services(home).config, sandbox: sandbox(args) }
    return openRun({ run_id: 'run-a', path_env: '/of/the/person' }, { config, blobs })
  }

  it('has dependency folders where they arrived, and programs of its own PATH', async () => {
    await asked('run-a')
    const run = await opened(there)
    if (run.kind !== 'opened') throw new Error(run.message)
    const [place = ''] = run.manifest.arrived?.dependencies ?? []
    expect(await readFile(join(place, 'pad/index.js'), 'utf8')).toBe('pad')
    expect(run.manifest.links).toEqual([
      { path: 'node_modules', target: join(workspace, 'node_modules') },
    ])
    expect(run.pathEnv).not.toContain('/of/the/person')
    const own = await opened(here)
    expect(own).toMatchObject({ kind: 'opened', pathEnv: '/of/the/person' })
    expect(own).not.toHaveProperty('manifest.arrived')
  })

  it('says which folder did not travel, how large it is and what to set', async () => {
    await write({ 'node_modules/big.bin': 'x'.repeat(1_200_000) })
    const small = fleet(1)
    await takeSnapshot({ home: here, runId: 'run-a', workspace })
    const staying = await publishRun(services(here, small), 'run-a')
    small.close()
    expect(staying).toContain('only a test-runner on this machine')
    expect(staying).toContain(`${join(workspace, 'node_modules')} (1.2 MB`)
    const run = await opened(there)
    expect(run).toMatchObject({ kind: 'unusable', reason: 'dependencies_missing' })
    const { message } = run as { message: string }
    for (const part of [join(workspace, 'node_modules'), '1.2 MB', '1.0 MB', 'ASTRA_SHARED_DIR']) {
      expect(message).toContain(part)
    }
    // Where they stand, they are used in place.
    expect(await opened(here)).toMatchObject({ kind: 'opened' })
  })

  it('does not take packages that were installed for another kind of machine', async () => {
    await asked('run-a')
    const key = '{astra}:run:run-a:snapshot'
    const told = JSON.parse((await connection.get(key)) ?? '')
    await connection.set(key, JSON.stringify({ ...told, platform: 'darwin-arm64' }))
    const run = await opened(there)
    expect(run).toMatchObject({ kind: 'unusable', reason: 'dependencies_missing' })
    expect(run).toHaveProperty('message', expect.stringContaining('darwin-arm64'))
  })

  it('says which packages beside the workspace did not travel: above it, and by links', async () => {
    await write({
      '../node_modules/hoisted/index.js': '',
      '../neighbour/package.json': '{}',
      'package.json': '{"dependencies":{"pad":"1.0.0"},"devDependencies":{"hoisted":"1.0.0"}}',
    })
    const message = async (runId: string) => {
      await asked(runId)
      const config = { ...services(there).config, sandbox: sandbox() }
      const run = await openRun({ run_id: runId, path_env: '' }, { config, blobs })
      expect(run).toMatchObject({ kind: 'unusable', reason: 'dependencies_missing' })
      return (run as { message: string }).message
    }
    expect(await message('run-b')).toContain(`the tests use ${join(folder, 'node_modules')}`)
    await write({ 'package.json': '{"dependencies":{"pad":"1.0.0"}}' })
    await symlink('../../neighbour', join(workspace, 'node_modules/neighbour'))
    expect(await message('run-c')).toContain(`the tests use ${join(folder, 'neighbour')}`)
    await rm(join(workspace, 'node_modules/neighbour'))
    await write({ '.venv/pyvenv.cfg': 'home = /usr/bin\n' })
    const site = '.venv/lib/python3.11/site-packages'
    await write({ [`${site}/__editable__.neighbour.pth`]: `${join(folder, 'neighbour')}\n` })
    expect(await message('run-d')).toContain(`the tests use ${join(folder, 'neighbour')}`)
    // What nobody asks for does not hold a run up.
    await rm(join(workspace, '.venv'), { recursive: true })
    await asked('run-a')
    expect(await opened(there)).toMatchObject({ kind: 'opened' })
  })

  it('needs a sandbox to show dependency folders at their own paths', async () => {
    await asked('run-a')
    expect(await opened(there, [UNSAFE_FLAG])).toMatchObject({
      kind: 'unusable',
      reason: 'no_sandbox',
    })
  })
})

describe('what a run makes', () => {
  it('is there for other machines before anything names it: edits', async () => {
    const text = `${'\uFEFF'}edited\n`
    const hash = await saveObject(filesOf(here), text)
    const bytes = await getContent(blobs, 'it', { sha256: hash, maxBytes: 100 })
    expect(Buffer.from(bytes).toString('utf8')).toBe(text)
    // Repeated after a crash between disk and Redis, it is sent all the same.
    await connection.flushall()
    await saveObject(filesOf(here), text)
    expect(await connection.dbsize()).toBe(1)
  })

  it('is not named when the fleet could not be told, which is no fault of the run', async () => {
    const other = await startNetworkRedis()
    const opened = openBlobs({ ...services(here).config, redis: { url: other.url } })
    await other.stop()
    const saved = saveObject(runFiles(here, 'run-a', opened), 'edited\n')
    const error = await saved.catch((cause) => cause)
    opened?.close()
    expect(isRedisFault(error), String(error)).toBe(true)
  })

  it('is there for other machines: patches and transcripts', async () => {
    const hash = await savePatch(filesOf(here), patch)
    expect(await loadPatch(filesOf(there), hash)).toEqual(patch)
    await expect(loadPatch(filesOf(there), sha256('x'))).rejects.toThrow('the patch of run run-a')
    await saveTranscript(filesOf(here), '{"type":"end"}\n')
    expect(await loadTranscript(filesOf(there))).toBe('{"type":"end"}\n')
    await expect(loadTranscript(filesOf(there, 'run-b'))).rejects.toThrow('has no transcript')
  })
})

describe('the command line on another machine', () => {
  const view = () => sampleView({ run_id: 'run-a', status: 'fixed', patch_hash: hash })
  let hash = ''
  beforeEach(async () => {
    await asked('run-a')
    hash = await savePatch(filesOf(here), patch)
  })

  it('applies a patch to a copy of the project, and knows what else changed in it', async () => {
    const copy = join(folder, 'copy')
    await mkdir(copy)
    await writeFile(join(copy, 'a.js'), 'one\n')
    const applied = await applyRun(there, view(), copy, 'report', blobs)
    expect(applied).toEqual({ applied: true, besides: [] })
    expect(await readFile(join(copy, 'a.js'), 'utf8')).toBe('ONE\n')
  })

  it('has a run proved again under another id, without a file of it', async () => {
    expect(await repeatRun(services(there), view(), 'copy')).toMatchObject({ patch: hash })
    expect(existsSync(there)).toBe(false)
    expect((await findSnapshot(filesOf(there, 'copy'))).manifest.workspace).toBe(workspace)
  })

  it('has a run proved again from its copy where it was asked for, wherever the tests run', async () => {
    expect(await repeatRun(services(here), view(), 'copy')).toMatchObject({ patch: hash })
    expect((await findSnapshot(filesOf(here, 'copy'))).arrived).toBeNull()
    expect((await findSnapshot(filesOf(there, 'copy'))).arrived).not.toBeNull()
  })
})

describe('what nobody uses any more', () => {
  const removal = (days: number, sharedDir?: string) =>
    removeUnused({ home: there, sharedDir, now: Date.now() + days * DAY_MS })

  it('goes: snapshots that arrived after a week, and halves of a killed process after a day', async () => {
    await asked('run-a')
    await findSnapshot(filesOf(there))
    const half = join(arrivedFolder(there), '.arriving-0123456789ab')
    await mkdir(half)
    await removal(0)
    expect(await readdir(arrivedFolder(there))).toHaveLength(2)
    await removal(2)
    expect(existsSync(half)).toBe(false)
    expect(await readdir(arrivedFolder(there))).toHaveLength(1)
    await removal(8)
    expect(await readdir(arrivedFolder(there))).toEqual([])
    // It is brought here again.
    expect((await findSnapshot(filesOf(there))).arrived).not.toBeNull()
  })

  it('goes: folders of runs that were asked for elsewhere; those of this machine stay', async () => {
    await takeSnapshot({ home: there, runId: 'own', workspace })
    await savePatch(filesOf(there, 'foreign'), patch)
    await removal(20)
    expect((await readdir(join(there, 'runs'))).sort()).toEqual(['foreign', 'own'])
    await removal(31)
    expect(await readdir(join(there, 'runs'))).toEqual(['own'])
  })

  it('goes: contents in the shared folder, unless they were used meanwhile', async () => {
    const shared = join(folder, 'shared')
    const [old, used] = [join(shared, 'blobs/aa/old'), join(shared, 'blobs/bb/used')]
    for (const path of [old, used]) {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, '')
    }
    const long = new Date(Date.now() - 31 * DAY_MS)
    await utimes(old, long, long)
    await removal(0, shared)
    expect([existsSync(old), existsSync(used)]).toEqual([false, true])
  })
})

describe('a link of installed packages', () => {
  it('into the workspace leads into the copy, whose files have the modes that they were sent with', async () => {
    await write({ 'packages/own/index.js': 'own' })
    await symlink('../packages/own', join(workspace, 'node_modules/own'))
    await chmod(join(workspace, 'a.js'), 0o700)
    await asked('run-a')
    const files = filesOf(there)
    const { base, manifest, arrived } = await findSnapshot(files)
    if (!arrived) throw new Error('it has not arrived')
    const brought = await bringDependencies(files, arrived)
    if (brought.kind !== 'here') throw new Error(brought.message)
    const placed = { ...manifest, arrived: { dependencies: brought.folders } }
    const copy = join(folder, 'copy')
    await materialise({ base }, placed, copy)
    expect(await readFile(join(copy, 'node_modules/own/index.js'), 'utf8')).toBe('own')
    expect((await stat(join(copy, 'a.js'))).mode & 0o777).toBe(0o700)
    await writeFile(join(copy, 'packages/own/index.js'), 'patched')
    expect(await readFile(join(copy, 'node_modules/own/index.js'), 'utf8')).toBe('patched')
    expect(await readFile(join(copy, 'node_modules/pad/index.js'), 'utf8')).toBe('pad')
  })
})
