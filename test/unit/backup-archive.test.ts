import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashFile } from '../../services/cli/backup/hash-file.ts'
import { BACKUP_FORMAT, type BackupManifest } from '../../services/cli/backup/manifest.ts'
import { readArchive } from '../../services/cli/backup/read-archive.ts'
import { writeArchive } from '../../services/cli/backup/write-archive.ts'
import { sha256 } from '../../shared/contracts/ids.ts'

let folder: string
let file: string
const never = new AbortController().signal

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'astra-archive-'))
  file = join(folder, 'backup.tar.zst')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const contents = {
  'memory/memory.db': 'a store',
  'state/ledger.json': '{}',
  'state/runs.jsonl': 'x'.repeat(100_000),
}
const at = '2026-11-30T08:00:00.000Z'
const nothing = { held: 0, sent: 0, settled: 0 }

async function manifestOf(texts: Record<string, string>): Promise<BackupManifest> {
  const parts: BackupManifest['parts'] = []
  for (const [name, text] of Object.entries(texts)) {
    const path = join(folder, 'parts', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    parts.push({ name, ...(await hashFile(path)) })
  }
  return {
    format: BACKUP_FORMAT,
    product_version: '9.8.7',
    created_at: at,
    read_at: { runs: at, store: at, keys: at, ledger: at },
    store: { kind: 'sqlite', schema: 7 },
    counts: { records: 1, runs: 1, trusted_keys: 0 },
    signing_key: false,
    spent: { live: nothing, notional: nothing },
    parts,
  }
}

/** An archive with a manifest that nobody of ours would write. */
async function forge(
  manifest: unknown,
  texts: Record<string, string>,
  written = JSON.stringify(manifest),
): Promise<void> {
  const text = JSON.stringify(manifest)
  const entries = { 'manifest.json': written, ...texts, 'manifest.sha256': sha256(text) }
  const tar = await packTar(
    Object.entries(entries).map(([name, body]) => ({ header: { name, size: body.length }, body })),
  )
  writeFileSync(file, zstdCompressSync(tar))
}

const read = () => readArchive(file, join(folder, 'unpacked'), never)

it('gives back what was put in', async () => {
  const manifest = await manifestOf(contents)
  await writeArchive(file, { manifest, parts: join(folder, 'parts'), interrupted: never })
  expect(await read()).toEqual({ manifest, id: expect.stringMatching(/^[0-9a-f]{64}$/) })
  for (const [name, text] of Object.entries(contents)) {
    expect(readFileSync(join(folder, 'unpacked', name), 'utf8')).toBe(text)
  }
})

it('leaves no file when it is interrupted', async () => {
  const manifest = await manifestOf(contents)
  const interrupted = AbortSignal.abort(new Error('Ctrl-C'))
  const written = { manifest, parts: join(folder, 'parts'), interrupted }
  await expect(writeArchive(file, written)).rejects.toThrow('Ctrl-C')
  expect(readdirSync(folder)).toEqual(['parts'])
})

describe('a file is refused that', () => {
  it('lost its end, with anything that it says', async () => {
    const manifest = await manifestOf(contents)
    await writeArchive(file, { manifest, parts: join(folder, 'parts'), interrupted: never })
    const whole = readFileSync(file)
    for (const length of [0, 1, 10, whole.length >> 1, whole.length - 40]) {
      writeFileSync(file, whole.subarray(0, length))
      await expect(read()).rejects.toThrow(/cannot be restored: it is/)
      rmSync(join(folder, 'unpacked'), { recursive: true, force: true })
    }
  })

  it('has a byte that differs, unless the byte says nothing', async () => {
    const manifest = await manifestOf(contents)
    await writeArchive(file, { manifest, parts: join(folder, 'parts'), interrupted: never })
    const whole = readFileSync(file)
    let refused = 0
    for (let place = 0; place < whole.length; place += 7) {
      const damaged = Buffer.from(whole)
      damaged[place] = (damaged[place] ?? 0) ^ 0x40
      writeFileSync(file, damaged)
      const result = await read().catch((error) => String(error))
      rmSync(join(folder, 'unpacked'), { recursive: true, force: true })
      if (typeof result !== 'string') expect(result.manifest).toEqual(manifest)
      else refused += 1
    }
    expect(refused).toBeGreaterThan(0.9 * Math.floor(whole.length / 7))
  })

  it('has a manifest that was altered', async () => {
    const manifest = await manifestOf(contents)
    const altered = JSON.stringify({ ...manifest, created_at: '2026-11-30T09:00:00.000Z' })
    await forge(manifest, contents, altered)
    await expect(read()).rejects.toThrow(/its manifest was altered/)
  })

  it('is of a newer format, with the version that wrote it', async () => {
    await forge({ format: BACKUP_FORMAT + 1, product_version: '9.8.7', surprise: true }, {})
    await expect(read()).rejects.toThrow(/its format is 2, of Astra 9\.8\.7, .* up to 1: update/)
  })

  it('is no backup at all', async () => {
    writeFileSync(file, 'notes')
    await expect(read()).rejects.toThrow(/it is damaged/)
    writeFileSync(
      file,
      zstdCompressSync(await packTar([{ header: { name: 'a', size: 1 }, body: 'b' }])),
    )
    await expect(read()).rejects.toThrow(/it is no backup of Astra/)
  })

  it.each([
    '../escaped',
    'keys/../../escaped',
    '/tmp/escaped',
    'keys/other.pem',
    'runs/../x/base.json',
  ])('names a part %s', async (name) => {
    const manifest = await manifestOf(contents)
    const parts = [{ name, bytes: 1, sha256: 'a'.repeat(64) }]
    await forge({ ...manifest, parts }, { [name]: 'x' })
    await expect(read()).rejects.toThrow(/is no part of a backup/)
    expect(readdirSync(folder).sort()).toEqual(['backup.tar.zst', 'parts'])
  })

  it('lacks a part, has another, or one of other contents', async () => {
    const manifest = await manifestOf(contents)
    const { 'state/ledger.json': ledger, ...others } = contents
    await forge(manifest, others)
    await expect(read()).rejects.toThrow(/state\/ledger\.json is missing/)
    rmSync(join(folder, 'unpacked'), { recursive: true })
    await forge(manifest, { ...contents, 'state/ledger.json': '[]' })
    await expect(read()).rejects.toThrow(/state\/ledger\.json does not have the hash/)
    rmSync(join(folder, 'unpacked'), { recursive: true })
    await forge(manifest, { ...contents, 'state/ledger.json': `${ledger} and more` })
    await expect(read()).rejects.toThrow(/state\/ledger\.json is too long/)
    rmSync(join(folder, 'unpacked'), { recursive: true })
    await forge(manifest, { ...contents, extra: 'x' })
    await expect(read()).rejects.toThrow(/it holds extra, which it does not list/)
  })
})
