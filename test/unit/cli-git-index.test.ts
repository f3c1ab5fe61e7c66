import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findGitFolder } from '../../services/cli/snapshot/git-folder.ts'
import { parseGitIndex } from '../../services/cli/snapshot/git-index.ts'
import { listWorkspace } from '../../services/cli/snapshot/list-workspace.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'astra-index-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const env = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  ...Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'a'],
      [`GIT_${who}_EMAIL`, 'a@example.org'],
    ]),
  ),
}
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, env, encoding: 'utf8' })
const index = () => readFileSync(join(root, '.git/index'))
const tracked = () => git('ls-files', '-z').split('\0').filter(Boolean)

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

const names = Object.fromEntries(
  Array.from({ length: 300 }, (_, i) => [
    `src/${'long/'.repeat(i % 5)}${'n'.repeat(i % 40)}${i}`,
    '',
  ]),
)

function filled(...options: string[]): void {
  git('init', '-q', ...options)
  write({ ...names, 'a b/ü/😀.js': '', a: '', 'a.b': '', [`${'x'.repeat(200)}/y`]: '' })
  git('add', '-A')
}

describe('an index that git wrote', () => {
  it.each(['2', '4'])('is read in version %s', (version) => {
    filled()
    git('update-index', '--index-version', version)
    expect(index().readUInt32BE(4)).toBe(Number(version))
    expect(parseGitIndex(index())).toEqual({ ok: true, paths: tracked() })
  })

  it('is read in version 3, which entries with more flags need', () => {
    filled()
    write({ later: '' })
    git('add', '--intent-to-add', 'later')
    git('update-index', '--skip-worktree', 'a.b')
    expect(index().readUInt32BE(4)).toBe(3)
    expect(parseGitIndex(index())).toEqual({ ok: true, paths: tracked() })
  })

  it('is read in a repository of SHA-256', () => {
    filled('--object-format=sha256')
    expect(parseGitIndex(index())).toEqual({ ok: true, paths: tracked() })
  })

  it('is read with the extensions that git adds, and with several stages of one file', () => {
    git('init', '-q', '-b', 'main')
    write({ a: 'base', 'd/b': '' })
    git('add', '-A')
    git('commit', '-qm', 'base')
    git('checkout', '-qb', 'other')
    write({ a: 'other' })
    git('commit', '-qam', 'other')
    git('checkout', '-q', 'main')
    write({ a: 'main' })
    git('commit', '-qam', 'main')
    expect(() => git('merge', '-q', 'other')).toThrow()
    const parsed = parseGitIndex(index())
    expect(parsed).toEqual({ ok: true, paths: ['a', 'a', 'a', 'd/b'] })
  })

  it('is told apart when it is split into two files', () => {
    filled()
    git('update-index', '--split-index')
    expect(parseGitIndex(index())).toEqual({ ok: false, why: 'it is split into two files' })
  })

  it('is told apart when folders stand in it for their files', () => {
    git('init', '-q')
    write({ 'in/a': '', 'out/b/c': '', top: '' })
    git('add', '-A')
    git('commit', '-qm', 'a')
    git('sparse-checkout', 'set', '--cone', '--sparse-index', 'in')
    expect(parseGitIndex(index())).toEqual({ ok: false, why: 'it is sparse' })
  })
})

describe('an index that is not whole', () => {
  it('is refused when it was cut or changed anywhere', () => {
    filled()
    const whole = index()
    const change = fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }))
    fc.assert(
      fc.property(change, ([at, by]) => {
        const changed = Buffer.from(whole)
        changed[at] = (changed[at] ?? 0) ^ by
        expect(parseGitIndex(changed).ok).toBe(false)
        expect(parseGitIndex(whole.subarray(0, at)).ok).toBe(false)
      }),
    )
  })

  it('is answered for, whatever bytes it is made of', () => {
    // Zeros where the checksum is are git's word for "not computed".
    const header = fc.constantFrom('DIRC\0\0\0\u0002', 'DIRC\0\0\0\u0003', 'DIRC\0\0\0\u0004', 'X')
    fc.assert(
      fc.property(header, fc.uint8Array({ maxLength: 300 }), (start, rest) => {
        const bytes = Buffer.concat([Buffer.from(start, 'latin1'), rest, Buffer.alloc(20)])
        expect(parseGitIndex(bytes)).toHaveProperty('ok')
      }),
    )
  })

  it('cannot make names of any length from a few bytes', () => {
    const long = Buffer.alloc(70_000, 'a')
    const entry = (removed: number[], name: Buffer) =>
      Buffer.concat([Buffer.alloc(62), Buffer.from(removed), name, Buffer.alloc(1)])
    const header = Buffer.from('DIRC\0\0\0\u0004\0\0\0\u0002', 'latin1')
    const parts = [header, entry([0], long), entry([0], long), Buffer.alloc(20)]
    expect(parseGitIndex(Buffer.concat(parts))).toEqual({
      ok: false,
      why: 'its names are too long',
    })
  })
})

describe('a snapshot', () => {
  const list = async (workspace = root) =>
    listWorkspace(workspace, await findGitFolder(workspace), { home: '/none', maxFiles: 1000 })

  beforeEach(() => {
    git('init', '-q')
    write({ '.gitignore': 'dist/\n*.gen\n', 'dist/kept.js': '', 'dist/other.js': '' })
    write({ 'app/a.gen': '', 'app/b.gen': '', 'app/.env': '', 'app/dist/deep/c.js': '' })
    git('add', '-f', '.gitignore', 'dist/kept.js', 'app/a.gen', 'app/.env', 'app/dist/deep/c.js')
  })

  it('holds what git tracks although a rule ignores it, and no secret for that', async () => {
    const { files, leftOut } = await list()
    expect(files).toEqual(['.gitignore', 'app/a.gen', 'app/dist/deep/c.js', 'dist/kept.js'])
    expect(leftOut).toEqual([{ path: 'app/.env', why: 'secret' }])
    expect((await list(join(root, 'app'))).files).toEqual(['a.gen', 'dist/deep/c.js'])
  })

  it('holds them in a worktree, which has an index of its own', async () => {
    git('commit', '-qm', 'a')
    git('worktree', 'add', '-q', 'tree')
    const { files } = await list(join(root, 'tree'))
    expect(files).toEqual(['.gitignore', 'app/a.gen', 'app/dist/deep/c.js', 'dist/kept.js'])
  })

  it('goes without them and says so when the index cannot be used', async () => {
    git('update-index', '--split-index')
    const { files, leftOut } = await list()
    expect(files).toEqual(['.gitignore'])
    expect(leftOut).toEqual([
      { path: '.git/index', why: 'ignored files that git tracks are not known' },
      { path: 'app/.env', why: 'secret' },
    ])
    rmSync(join(root, '.git/index'))
    execFileSync('mkfifo', [join(root, '.git/index')])
    expect((await list()).leftOut).toEqual(leftOut)
  })
})
