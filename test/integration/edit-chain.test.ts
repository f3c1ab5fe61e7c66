import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describePatch } from '../../services/agent-runner/files/patch-view.ts'
import { listTree, searchTree } from '../../services/agent-runner/files/search-tree.ts'
import { MAX_FILE_BYTES } from '../../services/agent-runner/files/text-file.ts'
import { openTree } from '../../services/agent-runner/files/tree.ts'
import { addEntry } from '../../services/agent-runner/journal/journal.ts'
import { createJournalStore } from '../../services/agent-runner/journal/journal-store.ts'
import { applyEdit } from '../../services/agent-runner/tools/apply-edit.ts'
import { applyPatch as applyToWorkspace } from '../../services/cli/patch/apply-patch.ts'
import { takeSnapshot } from '../../services/cli/snapshot/snapshot.ts'
import { applyPatch as applyToCopy } from '../../services/test-runner/copy/apply-patch.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { loadPatch, runFiles, savePatch } from '../../shared/run-files.ts'
import { materialise, readManifest } from '../../shared/workspace.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { call, SimulatedRun } from '../support/simulated-run.ts'

let server: TestRedis
let redis: Redis
beforeAll(async () => {
  server = await startRedis()
  redis = connectOrFail(server.address)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

type File = { path: string; bytes: Buffer; mode?: number }
type Edit = { path: string; old_text: string; new_text: string }

/** A run on a workspace of these files, from the snapshot on. `use` may edit and look. */
async function withRun(
  contents: File[],
  use: (run: {
    folder: string
    workspace: string
    files: ReturnType<typeof runFiles>
    tree: () => ReturnType<typeof openTree>
    edit: (edit: Edit) => Promise<string>
  }) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'astra-chain-'))
  try {
    const workspace = join(folder, 'workspace')
    for (const { path, bytes, mode } of contents) {
      await mkdir(dirname(join(workspace, path)), { recursive: true })
      await writeFile(join(workspace, path), bytes)
      if (mode !== undefined) await chmod(join(workspace, path), mode)
    }
    await takeSnapshot({ home: folder, runId: 'run-a', workspace })
    await redis.flushall()
    const files = runFiles(folder, 'run-a')
    const run = SimulatedRun.red()
    const journal = createJournalStore(redis)
    let count = 0
    const edit = async (args: Edit) => {
      count += 1
      const id = `e${count}`
      run.answer(run.send(), { calls: [call('apply_edit', id, args)] })
      const target = { runId: 'run-a', files, journal: run.journal }
      const output = await applyEdit({ journal }, target, id, args).catch((error) => error.message)
      const stored = await redis.hget('{astra}:run:run-a:journal', `edit/call:${id}`)
      if (stored) addEntry(run.journal, `edit/call:${id}`, JSON.parse(stored))
      addEntry(run.journal, `output/call:${id}`, { at: '2026-01-01T00:00:00.000Z', output })
      return output
    }
    await use({ folder, workspace, files, tree: () => openTree(files, run.journal), edit })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe('an edit, from the snapshot to the workspace', () => {
  const line = fc.constantFrom('a', '', ' b  ', 'é', '😀', '\t"$&"', '\\', 'x\u2028y')
  const file = fc.record({
    bom: fc.constantFrom('', '\uFEFF'),
    before: fc.array(line, { maxLength: 4 }),
    after: fc.array(line, { maxLength: 4 }),
    ending: fc.constantFrom('\n', '\r\n'),
    final: fc.boolean(),
    mode: fc.constantFrom(0o644, 0o755, 0o600, 0o640, 0o444),
    added: fc.array(line, { minLength: 1, maxLength: 3 }),
  })

  it('gives the same bytes and modes in the copy for tests and in the workspace', async () => {
    await fc.assert(
      fc.asyncProperty(file, async ({ bom, before, after, ending, final, mode, added }) => {
        const textOf = (place: string[]) => {
          const lines = [...before, ...place, ...after, 'end']
          return Buffer.from(bom + lines.join(ending) + (final ? ending : ''))
        }
        const other = { path: 'bin/tool', bytes: Buffer.from([0, 0xff, 13, 10]), mode: 0o755 }
        const edited = { path: 'src/a.txt', bytes: textOf(['one', 'two']), mode }
        await withRun([edited, other], async ({ folder, workspace, files, tree, edit }) => {
          const new_text = ['new', ...added].join('\n')
          const output = await edit({ path: 'src/a.txt', old_text: 'one\ntwo', new_text })
          expect(JSON.parse(output)).toEqual({ path: 'src/a.txt', edited: true })
          const hash = await savePatch(files, await (await tree()).patch())
          const patch = await loadPatch(files, hash)
          const copy = join(folder, 'copy')
          await materialise(files, await readManifest(files), copy)
          await applyToCopy(copy, patch)
          expect(await applyToWorkspace(workspace, patch)).toEqual({ applied: true })
          const expected = textOf(['new', ...added])
          for (const root of [copy, workspace]) {
            expect(await readFile(join(root, 'src/a.txt'))).toEqual(expected)
            expect(await readFile(join(root, 'bin/tool'))).toEqual(other.bytes)
            expect((await stat(join(root, 'bin/tool'))).mode & 0o777).toBe(0o755)
          }
          // A copy has to be writable for us; the person's file is as open as it was.
          expect((await stat(join(copy, 'src/a.txt'))).mode & 0o777).toBe(mode | 0o600)
          expect((await stat(join(workspace, 'src/a.txt'))).mode & 0o777).toBe(mode)
        })
      }),
      { numRuns: 40 },
    )
  })

  it.each<[string, Buffer, string, RegExp]>([
    ['of Latin-1', Buffer.from([0x61, 0xe9, 0x62]), 'x', /^a\.txt is not UTF-8 text$/],
    ['of UTF-16', Buffer.from('\uFEFFab', 'utf16le'), 'x', /^a\.txt is a binary file$/],
    ['that is binary', Buffer.from([0x61, 0, 0x62]), 'x', /^a\.txt is a binary file$/],
    ['that is too large', Buffer.alloc(MAX_FILE_BYTES + 1, 'a'), 'x', /^a\.txt has \d+ bytes/],
    ['that would become binary', Buffer.from('a'), 'a\0', /a\.txt would be a binary file/],
    ['that would lose a character', Buffer.from('a'), '\ud800', /a\.txt would not be UTF-8/],
    [
      'that would become too large',
      Buffer.from('a'),
      'é'.repeat(MAX_FILE_BYTES),
      /a\.txt would have \d+ bytes/,
    ],
    ['that would not change', Buffer.from('a'), 'a\n', /changes nothing/],
  ])('refuses a file %s by its name, and changes nothing', async (_, bytes, new_text, message) => {
    await withRun([{ path: 'a.txt', bytes }], async ({ workspace, files, tree, edit }) => {
      expect(await edit({ path: 'a.txt', old_text: 'a', new_text })).toMatch(message)
      expect(await (await tree()).patch()).toEqual({ files: [] })
      for (const root of [workspace, files.base]) {
        expect(await readFile(join(root, 'a.txt'))).toEqual(bytes)
      }
    })
  })

  it('is shown to people as a diff against the base', async () => {
    await withRun(
      [{ path: 'a.txt', bytes: Buffer.from('a\nb\n') }],
      async ({ files, tree, edit }) => {
        await edit({ path: 'a.txt', old_text: 'b', new_text: 'c' })
        const { diff } = await describePatch(files, await (await tree()).patch())
        expect(diff).toContain('-b\n+c\n')
      },
    )
  })
})

describe('a secret that is in the base all the same', () => {
  it.each([
    '.env',
    'conf/.ENV.local',
    '.aws/config',
    'tls/server.key',
    'credentials.json',
    'id_rsa',
  ])('%s is not read, found, listed or edited by any tool', async (secret) => {
    await withRun([{ path: 'a.txt', bytes: Buffer.from('a') }], async ({ files, tree, edit }) => {
      const text = 'TOKEN=hunter2'
      await mkdir(dirname(join(files.base, secret)), { recursive: true })
      await writeFile(join(files.base, secret), text)
      const manifest = JSON.parse(await readFile(files.manifest, 'utf8'))
      const sha256 = 'a'.repeat(64)
      manifest.files.push({ path: secret, sha256, mode: 0o644 })
      await writeFile(files.manifest, JSON.stringify(manifest))
      expect(listTree(await tree()).files).toEqual(['a.txt'])
      expect((await searchTree(await tree(), 'TOKEN', 50)).matches).toEqual([])
      await expect((await tree()).read(secret)).rejects.toThrow(/may hold secrets/)
      const refused = await edit({ path: secret, old_text: 'TOKEN', new_text: 'x' })
      expect(refused).toMatch(/may hold secrets/)
    })
  })
})
