import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { takeSnapshot } from '../../services/cli/snapshot/snapshot.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import type { Manifest } from '../../shared/contracts/manifest.ts'
import { UsageError } from '../../shared/errors.ts'
import { runFiles } from '../../shared/run-files.ts'
import { readManifest } from '../../shared/workspace.ts'

let folder: string
let workspace: string
let home: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'astra-snapshot-')))
  workspace = join(folder, 'workspace')
  home = join(folder, 'home')
  mkdirSync(workspace)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(files: Record<string, string>, root = workspace): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

async function snapshot(from = workspace): Promise<{
  manifest: Manifest
  paths: string[]
  leftOut: { path: string; why: string }[]
}> {
  const { leftOut } = await takeSnapshot({ home, runId: 'run-a', workspace: from })
  const manifest = await readManifest(runFiles(home, 'run-a'))
  return { manifest, paths: manifest.files.map((file) => file.path), leftOut }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: workspace, encoding: 'utf8', env: gitEnv })
}
const gitEnv = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }

describe('what a snapshot holds', () => {
  it('keeps contents, hashes and modes', async () => {
    write({ 'src/a.js': 'a\n', 'run.sh': '#!/bin/sh\n' })
    chmodSync(join(workspace, 'run.sh'), 0o755)
    const { manifest } = await snapshot()
    expect(manifest.workspace).toBe(workspace)
    expect(manifest.files).toContainEqual({
      path: 'run.sh',
      sha256: sha256('#!/bin/sh\n'),
      mode: 0o755,
    })
    const base = runFiles(home, 'run-a').base
    expect(readFileSync(join(base, 'src/a.js'), 'utf8')).toBe('a\n')
    expect(statSync(join(base, 'run.sh')).mode & 0o777).toBe(0o755)
  })

  it('keeps whose repository it is of', async () => {
    write({ '.git/config': '[remote "origin"]\n\turl = https://github.com/ann/shop.git\n' })
    write({ 'a.js': '', '.git/HEAD': 'ref: refs/heads/main\n' })
    expect((await snapshot()).manifest.repository_id).toBe('github.com/ann/shop')
  })

  it('keeps a read-only file so that its copy can be written', async () => {
    write({ 'a.js': 'a' })
    chmodSync(join(workspace, 'a.js'), 0o444)
    const { manifest } = await snapshot()
    expect(manifest.files[0]?.mode).toBe(0o644)
  })

  it('leaves out .git, also of a nested repository and whatever its case', async () => {
    write({ 'a.js': '', '.git/config': '', 'sub/.git/config': '', 'other/.GIT/config': '' })
    expect((await snapshot()).paths).toEqual(['a.js'])
  })

  it('leaves out secrets and links, and says so', async () => {
    write({
      'a.js': '',
      '.env': '',
      '.env.local': '',
      'keys/server.PEM': '',
      id_rsa: '',
      '.npmrc': '',
    })
    symlinkSync('/etc/passwd', join(workspace, 'passwd'))
    symlinkSync('a.js', join(workspace, 'b.js'))
    const { paths, leftOut } = await snapshot()
    expect(paths).toEqual(['a.js'])
    expect(leftOut).toEqual([
      { path: '.env', why: 'secret' },
      { path: '.env.local', why: 'secret' },
      { path: '.npmrc', why: 'secret' },
      { path: 'b.js', why: 'link' },
      { path: 'id_rsa', why: 'secret' },
      { path: 'keys/server.PEM', why: 'secret' },
      { path: 'passwd', why: 'link' },
    ])
  })

  it('leaves out a named pipe without waiting on it', async () => {
    write({ 'a.js': '' })
    execFileSync('mkfifo', [join(workspace, 'pipe')])
    const { paths, leftOut } = await snapshot()
    expect(paths).toEqual(['a.js'])
    expect(leftOut).toEqual([{ path: 'pipe', why: 'not a regular file' }])
  })

  it('leaves out its own data folder when that lies inside the workspace', async () => {
    home = join(workspace, 'data')
    write({ 'a.js': '', 'data/runs/old/base/x.js': '' })
    expect((await snapshot()).paths).toEqual(['a.js'])
  })

  it('takes dependency folders by reference, also where git ignores them', async () => {
    write({
      '.gitignore': 'node_modules\n.venv\n',
      'a.js': '',
      'node_modules/x/index.js': '',
      'packages/b/node_modules/y/index.js': '',
      '.venv/pyvenv.cfg': '',
      'venv/source.py': '',
    })
    mkdirSync(join(folder, 'elsewhere/node_modules'), { recursive: true })
    mkdirSync(join(workspace, 'packages/c'))
    symlinkSync(join(folder, 'elsewhere/node_modules'), join(workspace, 'packages/c/node_modules'))
    const { manifest, paths } = await snapshot()
    expect(paths).toEqual(['.gitignore', 'a.js', 'venv/source.py'])
    expect(manifest.links).toEqual([
      { path: '.venv', target: join(workspace, '.venv') },
      { path: 'node_modules', target: join(workspace, 'node_modules') },
      { path: 'packages/b/node_modules', target: join(workspace, 'packages/b/node_modules') },
      { path: 'packages/c/node_modules', target: join(folder, 'elsewhere/node_modules') },
    ])
  })
})

describe('what git ignores', () => {
  it('takes the files that git itself would take, with nested rules of every form', async () => {
    git('init', '-q')
    write({
      '.git/info/exclude': 'local-notes\n!kept-by-gitignore.log\n',
      '.gitignore':
        '*.log\n/build\ndist/\n!important.log\ndocs/*.txt\n**/deep/x.js\n\\#odd\ntrail \n',
      'a.log': '',
      'important.log': '',
      'kept-by-gitignore.log': '',
      'local-notes': '',
      'build/out.js': '',
      'src/build/in.js': '',
      'src/dist/gone.js': '',
      dist: 'a file called dist is not a folder',
      'docs/a.txt': '',
      'docs/sub/b.txt': '',
      'one/two/deep/x.js': '',
      '#odd': '',
      trail: '',
      'Case.LOG': '',
      'sub/.gitignore': '/only-here\n*.tmp\n!*.log\ninner/skip.js\n!\n/\nfoo/**\n',
      'sub/only-here/x.js': '',
      'sub/deeper/only-here/x.js': '',
      'sub/a.tmp': '',
      'sub/deeper/b.tmp': '',
      'sub/back.log': '',
      'sub/inner/skip.js': '',
      'sub/deeper/inner/skip.js': '',
      'sub/foo/x/y.js': '',
      'sub/deeper/foo/y.js': '',
      'other/a.tmp': '',
      'we[i]rd/.gitignore': '*.gen\n!keep.gen\n',
      'we[i]rd/a.gen': '',
      'we[i]rd/keep.gen': '',
      'wei/a.gen': '',
      'reopen/.gitignore': '!dist/\n',
      'reopen/dist/x.js': '',
    })
    const { paths } = await snapshot()
    const taken = git('-c', 'core.quotepath=off', 'ls-files', '-co', '--exclude-standard', '-z')
    expect(paths.toSorted()).toEqual(taken.split('\0').filter(Boolean).toSorted())
    expect(paths).toContain('reopen/dist/x.js')
    expect(paths).not.toContain('sub/foo/x/y.js')
  })

  it('holds for a workspace that is a folder of a larger repository', async () => {
    git('init', '-q')
    write({
      '.gitignore': '*.gen\n/app/out\n',
      'app/a.js': '',
      'app/b.gen': '',
      'app/out/c.js': '',
    })
    expect((await snapshot(join(workspace, 'app'))).paths).toEqual(['a.js'])
  })

  it('does not close a workspace that an outer repository ignores as a whole', async () => {
    git('init', '-q')
    write({ '.gitignore': '/runs/\n*.js\n', 'runs/app/a.js': '', 'runs/app/.gitignore': 'b.js\n' })
    write({ 'runs/app/b.js': '' })
    expect((await snapshot(join(workspace, 'runs/app'))).paths).toEqual(['.gitignore', 'a.js'])
  })

  it('reads info/exclude of a worktree from the main repository', async () => {
    write({
      'main/.git/info/exclude': 'secret-plan\n',
      'main/.git/worktrees/w/commondir': '../..\n',
    })
    write({ 'w/.git': `gitdir: ${join(workspace, 'main/.git/worktrees/w')}\n` })
    write({ 'w/a.js': '', 'w/secret-plan': '' })
    expect((await snapshot(join(workspace, 'w'))).paths).toEqual(['a.js'])
  })

  it('is brought in by the include globs of .astra.json, except secrets', async () => {
    write({
      '.gitignore': 'generated/\nfixtures\n*.json\n!.astra.json\n',
      '.astra.json': '{"include": ["generated/*.js", "fixtures/", "deep/**/data.json", ".env"]}',
      'generated/a.js': '',
      'generated/a.map': '',
      'generated/sub/b.js': '',
      'fixtures/one/x.bin': '',
      'fixtures/one/.hidden': '',
      'deep/er/data.json': '',
      'other/data.json': '',
      '.env': '',
    })
    expect((await snapshot()).paths).toEqual([
      '.astra.json',
      '.gitignore',
      'deep/er/data.json',
      'fixtures/one/.hidden',
      'fixtures/one/x.bin',
      'generated/a.js',
    ])
  })
})

describe('a workspace that cannot be used', () => {
  const refused = async (from: string, message: RegExp) => {
    const taking = takeSnapshot({ home, runId: 'run-a', workspace: from })
    await expect(taking).rejects.toThrow(UsageError)
    await expect(takeSnapshot({ home, runId: 'run-a', workspace: from })).rejects.toThrow(message)
    expect(existsSync(runFiles(home, 'run-a').dir)).toBe(false)
  }

  it('is missing', () => refused(join(folder, 'nowhere'), /there is no folder .*nowhere/))

  it('is a file', async () => {
    write({ 'a.js': '' })
    await refused(join(workspace, 'a.js'), /a\.js is a file, not a folder/)
  })

  it('is empty', () => refused(workspace, /it has no files/))

  it('has an .astra.json that is not JSON, or not of its form, or leads outside', async () => {
    write({ 'a.js': '', '.astra.json': '{' })
    await refused(workspace, /\.astra\.json is not JSON/)
    write({ '.astra.json': '{"include": "x"}' })
    await refused(workspace, /\.astra\.json does not fit/)
    write({ '.astra.json': '{"include": ["../x"]}' })
    await refused(workspace, /leaves the workspace/)
  })

  it('is above a limit: of one file, of all together, of their number', async () => {
    write({ 'a.js': '12345', 'b.js': '12345', 'c.js': '12345' })
    const take = (limits: { fileBytes: number; totalBytes: number; files: number }) =>
      takeSnapshot({ home, runId: 'run-a', workspace }, limits)
    const room = { fileBytes: 10, totalBytes: 100, files: 10 }
    await expect(take({ ...room, fileBytes: 4 })).rejects.toThrow(/a\.js is larger than/)
    await expect(take({ ...room, totalBytes: 12 })).rejects.toThrow(/holds more than/)
    await expect(take({ ...room, files: 2 })).rejects.toThrow(/more than 2 files/)
    expect(existsSync(runFiles(home, 'run-a').dir)).toBe(false)
  })
})

describe('a run id that exists', () => {
  it('is refused, and the first run keeps its files', async () => {
    write({ 'a.js': 'first' })
    await snapshot()
    write({ 'a.js': 'second' })
    await expect(snapshot()).rejects.toThrow(/a run run-a exists already/)
    expect(readFileSync(join(runFiles(home, 'run-a').base, 'a.js'), 'utf8')).toBe('first')
  })

  it('is given to one of two that ask for it at once', async () => {
    write({ 'a.js': '' })
    const both = await Promise.allSettled(
      [1, 2].map(() => takeSnapshot({ home, runId: 'run-a', workspace })),
    )
    expect(both.map((each) => each.status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(readdirSync(runFiles(home, 'run-a').base)).toEqual(['a.js'])
  })
})
