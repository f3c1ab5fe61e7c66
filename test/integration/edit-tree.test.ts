import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { listTree, searchTree } from '../../services/agent-runner/files/search-tree.ts'
import { openTree } from '../../services/agent-runner/files/tree.ts'
import { addEntry } from '../../services/agent-runner/journal/journal.ts'
import {
  createJournalStore,
  type JournalStore,
} from '../../services/agent-runner/journal/journal-store.ts'
import { applyEdit } from '../../services/agent-runner/tools/apply-edit.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { type RunFiles, runFiles } from '../../shared/run-files.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { call, SimulatedRun } from '../support/simulated-run.ts'

const RUN = 'run-test'
const base = {
  'src/a.ts': 'const a = 1\nconst b = 2\n',
  'src/b.ts': 'x\r\ny\r\n',
  '.env': 'KEY=1\n',
}

let server: TestRedis
let redis: Redis
let journalStore: JournalStore
let home: string
let files: RunFiles
let run: SimulatedRun

beforeAll(async () => {
  server = await startRedis()
  redis = connectOrFail(server.address)
  journalStore = createJournalStore(redis)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})
beforeEach(async () => {
  await redis.flushall()
  home = await mkdtemp(join(tmpdir(), 'astra-tree-'))
  files = runFiles(home, RUN)
  for (const [path, text] of Object.entries(base)) {
    await mkdir(dirname(join(files.base, path)), { recursive: true })
    await writeFile(join(files.base, path), text)
  }
  const listed = Object.entries(base).map(([path, text]) => ({
    path,
    sha256: sha256(text),
    mode: 0o644,
  }))
  await writeFile(files.manifest, JSON.stringify({ workspace: '/w', files: listed, links: [] }))
  run = SimulatedRun.red()
})
afterEach(() => rm(home, { recursive: true, force: true }))

/** The model asks for an edit and it is carried out, as the run's worker would. */
async function edit(id: string, path: string, old_text: string, new_text: string): Promise<string> {
  const args = { path, old_text, new_text }
  const asked = run.calls.find((each) => each.call_id === id)
  if (!asked) run.answer(run.send(), { calls: [call('apply_edit', id, args)] })
  const output = await applyEdit(
    { journal: journalStore },
    { runId: RUN, files, journal: run.journal },
    id,
    args,
  )
  const stored = await redis.hget(`{astra}:run:${RUN}:journal`, `edit/call:${id}`)
  if (stored) addEntry(run.journal, `edit/call:${id}`, JSON.parse(stored))
  addEntry(run.journal, `output/call:${id}`, { at: '2026-01-01T00:00:00.000Z', output })
  return output
}

const tree = () => openTree(files, run.journal)

describe('the tree that the model edits', () => {
  it('shows the files of the base and no secrets', async () => {
    expect(listTree(await tree())).toEqual({ files: ['src/a.ts', 'src/b.ts'], truncated: false })
    await expect((await tree()).read('.env')).rejects.toThrow(/may hold secrets/)
    await expect((await tree()).read('src/c.ts')).rejects.toThrow(/there is no file src\/c.ts/)
    await expect((await tree()).read('../base.json')).rejects.toThrow()
  })

  it('holds the last edit of each file, and the patch says what differs from the base', async () => {
    await edit('e1', 'src/a.ts', 'a = 1', 'a = 10')
    await edit('e2', 'src/a.ts', 'b = 2', 'b = 20')
    expect(await (await tree()).read('src/a.ts')).toBe('const a = 10\nconst b = 20\n')
    expect(await (await tree()).patch()).toEqual({
      files: [
        {
          path: 'src/a.ts',
          before: sha256(base['src/a.ts']),
          after: 'const a = 10\nconst b = 20\n',
        },
      ],
    })
    expect(await searchTree(await tree(), 'b = 20', 5)).toMatchObject({ matches: [{ line: 2 }] })
  })

  it('is the base again when an edit was taken back, and then the patch is empty', async () => {
    await edit('e1', 'src/a.ts', 'a = 1', 'a = 10')
    await edit('e2', 'src/a.ts', 'a = 10', 'a = 1')
    expect(await (await tree()).patch()).toEqual({ files: [] })
  })

  it('never changes a file of the base', async () => {
    await edit('e1', 'src/b.ts', 'x\ny', 'y\nx')
    expect(await readFile(join(files.base, 'src/b.ts'), 'utf8')).toBe(base['src/b.ts'])
    expect(await (await tree()).read('src/b.ts')).toBe('y\r\nx\r\n')
  })

  it('takes an edit once, however often it is carried out', async () => {
    await edit('e1', 'src/a.ts', '1', '11')
    const again = await edit('e1', 'src/a.ts', '1', '11')
    expect(JSON.parse(again)).toEqual({ path: 'src/a.ts', edited: true })
    expect(await (await tree()).read('src/a.ts')).toBe('const a = 11\nconst b = 2\n')
  })

  it('cannot be changed by a worker that was taken over and wakes up late', async () => {
    const late = { runId: RUN, files, journal: structuredClone(run.journal) }
    await edit('e1', 'src/a.ts', '1', '11')
    await edit('e2', 'src/a.ts', '11', '111')
    const args = { path: 'src/a.ts', old_text: '1', new_text: '11' }
    await applyEdit({ journal: journalStore }, late, 'e1', args)
    expect(await (await tree()).read('src/a.ts')).toBe('const a = 111\nconst b = 2\n')
  })

  it('refuses an object that was altered on the disk', async () => {
    await edit('e1', 'src/a.ts', '1', '11')
    const object = sha256('const a = 11\nconst b = 2\n')
    await writeFile(join(files.objects, object), 'const a = 666\n')
    await expect((await tree()).read('src/a.ts')).rejects.toThrow(/was altered/)
  })
})
