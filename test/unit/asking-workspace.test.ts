import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { askingWorkspace } from '../../services/cli/asking-workspace.ts'
import { printMatches } from '../../services/cli/format/format-memory.ts'
import { createTerminal } from '../../services/cli/format/terminal.ts'
import { searchResultSchema } from '../../shared/contracts/memory.ts'
import type { Touched } from '../../shared/contracts/record.ts'
import { sampleClaim, sampleRecord } from '../support/memory.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'astra-asking-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

function result(...touched: (Touched | null)[]) {
  const { memory_id } = sampleRecord()
  const told = { ...sampleClaim, timestamp: '2026-11-01T10:00:00Z', session_id: 'run-0' }
  const matches = touched.map((each) => ({
    memory_id,
    score: 0.5,
    proved: true,
    touched: each,
    ...told,
  }))
  return searchResultSchema.parse({ matches, searched: 1 })
}

async function stale(touched: Touched, below = '.'): Promise<string | null | undefined> {
  const here = await askingWorkspace(join(folder, below), join(folder, 'no home'))
  return (await here?.markStale(result(touched)))?.matches[0]?.stale
}

const git = { '.git/config': '', '.git/HEAD': 'ref: refs/heads/main\n' }

describe('a match is stale for who asks in a workspace', () => {
  it('when its files are gone from it, or nothing of what it changed is in them', async () => {
    write({ 'src/a.ts': 'export const parseNames = 1' })
    const gone = 'src/b.ts is not in this project any more'
    expect(await stale({ files: ['src/b.ts'], identifiers: ['parseNames'] })).toBe(gone)
    expect(await stale({ files: ['src/a.ts'], identifiers: ['trim'] })).toContain('(trim)')
    expect(await stale({ files: ['src/a.ts'], identifiers: ['parseNames'] })).toBeNull()
  })

  it('and not when they are in another folder of the same repository', async () => {
    write({ ...git, 'packages/a/src/a.ts': 'parseNames', 'packages/b/b.ts': '' })
    const touched = { files: ['src/a.ts'], identifiers: ['parseNames'] }
    for (const below of ['.', 'packages/a', 'packages/a/src', 'packages/b']) {
      expect(await stale(touched, below)).toBeNull()
    }
    expect(await stale({ files: ['rc/a.ts'], identifiers: [] })).toContain('rc/a.ts is not')
  })

  it('and never by what lies outside of it, whatever a record names', async () => {
    write({ 'outside.ts': 'parseNames', 'in/a.ts': 'trim' })
    symlinkSync(join(folder, 'outside.ts'), join(folder, 'in', 'link.ts'))
    for (const path of ['../outside.ts', join(folder, 'outside.ts'), 'link.ts', '']) {
      const touched = { files: [path], identifiers: ['parseNames'] }
      expect(await stale(touched, 'in')).toContain('not in this project any more')
    }
  })
})

it('says nothing of matches of other repositories, and looks at no file for them', async () => {
  const here = await askingWorkspace(folder, folder)
  rmSync(folder, { recursive: true })
  expect(await here?.markStale(result(null))).toEqual(result(null))
  expect(await askingWorkspace(folder, folder)).toBeNull()
})

it('prints the mark with the match, without what would steer a terminal', async () => {
  write({ 'src/a.ts': '' })
  const here = await askingWorkspace(folder, folder)
  const marked = await here?.markStale(result({ files: ['\u001b[2Jb.ts'], identifiers: [] }, null))
  const lines: string[] = []
  const terminal = { ...createTerminal({}), print: (line: string) => void lines.push(line) }
  printMatches(terminal, marked ?? result(), undefined)
  const stales = lines.filter((line) => line.includes('stale:'))
  expect(stales).toEqual(['      stale: b.ts is not in this project any more'])
})
