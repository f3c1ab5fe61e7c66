import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { markStale } from '../../services/agent-runner/files/stale-matches.ts'
import { renderMatches } from '../../services/agent-runner/tools/outputs.ts'
import { touchedBy } from '../../services/memory-store/lifecycle/touched-by.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { Manifest } from '../../shared/contracts/manifest.ts'
import { searchResultSchema } from '../../shared/contracts/memory.ts'
import type { Touched } from '../../shared/contracts/record.ts'
import { type RunFiles, runFiles } from '../../shared/run-files.ts'
import { sampleClaim, sampleRecord } from '../support/memory.ts'

let home: string
let files: RunFiles
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-stale-'))
  files = runFiles(home, 'run-1')
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function base(texts: Record<string, string | Buffer>): Promise<void> {
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(join(files.base, path)), { recursive: true })
    await writeFile(join(files.base, path), text)
  }
  const manifest: Manifest = {
    workspace: '/workspace',
    files: Object.entries(texts).map(([path, text]) => ({
      path,
      mode: 0o644,
      sha256: sha256(text),
    })),
    links: [],
  }
  await writeFile(files.manifest, JSON.stringify(manifest))
}

function result(touched: Touched | null) {
  const { memory_id } = sampleRecord()
  const told = { ...sampleClaim, timestamp: '2026-11-01T10:00:00Z', session_id: 'run-0' }
  const match = { memory_id, score: 0.5, proved: true, touched, ...told }
  return searchResultSchema.parse({ matches: [match], searched: 1 })
}

async function stale(touched: Touched | null): Promise<string | null | undefined> {
  const marked = searchResultSchema.parse(await markStale(files, result(touched)))
  return marked.matches[0]?.stale
}

describe('a match of the own repository', () => {
  it('is stale when all of its files are gone, and not when one is left', async () => {
    await base({ 'src/a.ts': 'export const parseNames = 1' })
    const identifiers = ['parseNames']
    expect(await stale({ files: ['src/b.ts'], identifiers })).toBe(
      'src/b.ts is not in this project any more',
    )
    expect(await stale({ files: ['src/b.ts', 'lib/c.ts'], identifiers })).toBe(
      'src/b.ts, lib/c.ts are not in this project any more',
    )
    expect(await stale({ files: ['src/b.ts', 'src/a.ts'], identifiers })).toBeNull()
  })

  it('is stale when none of the names that it touched is in the files that are left', async () => {
    await base({ 'src/a.ts': 'export const parseNamesAll = parts', 'src/b.ts': 'parseNames' })
    expect(await stale({ files: ['src/a.ts'], identifiers: ['parseNames', 'trim'] })).toBe(
      'nothing that it changed is in src/a.ts any more (parseNames, trim)',
    )
    const both = { files: ['src/a.ts', 'src/b.ts'], identifiers: ['parseNames'] }
    expect(await stale(both)).toBeNull()
  })

  it('is left alone where nothing can be said', async () => {
    await base({ 'src/a.ts': 'nothing', 'data.bin': Buffer.from([0, 255, 0]) })
    expect(await stale({ files: ['src/a.ts'], identifiers: [] })).toBeNull()
    expect(await stale({ files: ['data.bin'], identifiers: ['parseNames'] })).toBeNull()
    expect(await stale({ files: [], identifiers: ['parseNames'] })).toBeNull()
  })
})

it('says nothing of matches of other repositories, and gives other results back as they are', async () => {
  const foreign = result(null)
  expect(await markStale(files, foreign)).toBe(foreign)
  const other = { kind: 'red', output: 'no search' }
  expect(await markStale(files, other)).toBe(other)
})

it('is told to the model with the match', async () => {
  await base({ 'src/a.ts': '' })
  const touched = { files: ['src/\nb.ts'], identifiers: [] }
  const marked = searchResultSchema.parse(await markStale(files, result(touched)))
  expect(renderMatches(marked)).toMatch(/^Stale: src\/ b\.ts is not in this project any more$/m)
  expect(renderMatches(result(null))).not.toContain('Stale')
})

describe('what a diff touched', () => {
  const diff = [
    '--- a/src/names.ts',
    '+++ b/src/names.ts',
    '@@ -1,3 +1,3 @@',
    ' export function unrelated() {',
    '-  return rawNames.split(",")',
    '+  return rawNames.split(",").map((each) => each.trim())',
    '--- a/src/gone.ts',
    '+++ b/src/more.ts',
  ].join('\n')

  it('is its files and the names of changed lines, without the words of the language', () => {
    const record = sampleRecord({ diff })
    expect(touchedBy(record)).toEqual({
      files: ['src/names.ts', 'src/more.ts'],
      identifiers: ['rawNames', 'split', 'each', 'trim'],
    })
  })

  it('is the files that the record names where there is no diff', () => {
    expect(touchedBy(sampleRecord({ diff: '' }))).toEqual({
      files: sampleClaim.file_paths,
      identifiers: [],
    })
  })
})
