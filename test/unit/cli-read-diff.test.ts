import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patchFromDiff } from '../../services/cli/patch/patch-from-diff.ts'
import { readDiff } from '../../services/cli/patch/read-diff.ts'
import { sha256 } from '../../shared/contracts/ids.ts'
import { UsageError } from '../../shared/errors.ts'

type Contents = Record<string, string>

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'astra-diff-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function git(args: string[], accepted = [0]): string {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
  try {
    return execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' })
  } catch (error) {
    // `diff --no-index` ends with 1 when there is a difference.
    const { status, stdout } = error as { status: number; stdout: string }
    if (accepted.includes(status)) return stdout
    throw error
  }
}

const read = (diff: string, base: Contents) =>
  patchFromDiff(readDiff(diff), {
    paths: new Set(Object.keys(base)),
    read: async (path) => Buffer.from(base[path] ?? ''),
  })

/** The files that a diff makes of a base; the patch is checked against the base as it is applied. */
async function readBack(diff: string, base: Contents): Promise<Contents> {
  const { patch } = await read(diff, base)
  const result = new Map(Object.entries(base))
  for (const { path, before, after } of patch.files) {
    expect(before).toBe(base[path] === undefined ? null : sha256(base[path]))
    if (after === null) result.delete(path)
    else result.set(path, after)
  }
  return Object.fromEntries(result)
}

/** Texts whose lines look like parts of a diff, and end in every way or not at all. */
const line = fc
  .array(
    fc.constantFrom('a', ' ', '-', '+', '@@ -1 +1 @@', '\\', '\t', '\r', '\u2028', 'é', '--- '),
  )
  .map((parts) => parts.join(''))
const text = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
  .map(([lines, end, ended]) => lines.join(end) + (ended ? end : ''))

const name = fc.constantFrom(
  'f',
  'a/f',
  'b/f',
  'b b/f',
  'with space.txt',
  'ends with space ',
  'tab\there',
  'quote"d',
  'back\\slash',
  'ünï/cödé.py',
  'pkg/__init__.py',
  '-- dash',
)
const tree = fc.dictionary(name, text, { maxKeys: 6 }).map((files) => ({ ...files }) as Contents)

const gitOptions = fc.constantFrom(
  [],
  ['-M10%'],
  ['-C', '-C', '-C10%'],
  ['--no-renames'],
  ['--no-prefix'],
  ['--no-prefix', '-M10%'],
  ['--src-prefix=i/', '--dst-prefix=w/'],
  ['-U0'],
  ['-U1', '--inter-hunk-context=2'],
  ['--full-index', '--patience'],
)

describe('a diff is read back to exactly what it was made of', () => {
  it('by the diff package, with any context', () =>
    fc.assert(
      fc.asyncProperty(text, text, fc.integer({ min: 0, max: 4 }), async (old, now, context) => {
        fc.pre(old !== now)
        const diff = createTwoFilesPatch('a/x', 'b/x', old, now, '', '', { context })
        expect(await readBack(diff, { x: old })).toEqual({ x: now })
      }),
      { numRuns: 500 },
    ))

  it('by git, of one file', () =>
    fc.assert(
      fc.asyncProperty(text, text, async (old, now) => {
        for (const [side, content] of [['a', old] as const, ['b', now] as const]) {
          mkdirSync(join(folder, side), { recursive: true })
          writeFileSync(join(folder, side, 'x'), content)
        }
        const args = ['diff', '--no-index', '--no-prefix', '--text', 'a/x', 'b/x']
        expect(await readBack(git(args, [0, 1]), { x: old })).toEqual({ x: now })
      }),
      { numRuns: 100 },
    ))

  it('by git, of trees: new, deleted, renamed and copied files of any name', () =>
    fc.assert(
      fc.asyncProperty(tree, tree, fc.boolean(), gitOptions, async (old, other, moves, options) => {
        // Contents that stand under another name are what renames and copies are found by.
        const [first, ...rest] = Object.entries(old)
        const now = moves && first ? { ...Object.fromEntries(rest), moved: first[1] } : other
        const [before, after] = [writeTree(old), writeTree(now)]
        const diff = git(['-C', 'repo', 'diff', '--text', ...options, before, after])
        expect(await readBack(diff, old)).toEqual(now)
      }),
      { numRuns: 60 },
    ))

  function writeTree(files: Contents): string {
    const repo = join(folder, 'repo')
    rmSync(repo, { recursive: true, force: true })
    git(['init', '-q', '--separate-git-dir', join(folder, 'git'), repo])
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(repo, path)), { recursive: true })
      writeFileSync(join(repo, path), content)
    }
    git(['-C', 'repo', 'add', '-A'])
    return git(['-C', 'repo', 'write-tree']).trim()
  }
})

const one = (body: string, path = 'x') => `--- a/${path}\n+++ b/${path}\n${body}`
const hunk = '@@ -1 +1 @@\n-a\n+b\n'

describe('other ways to write a diff', () => {
  it('takes mails of `git format-patch`, with their text and signature', async () => {
    const mail = (n: number, diff: string) =>
      `From ${String(n).repeat(40)} Mon Sep 17 00:00:00 2001\nSubject: [PATCH]\n\n- a list\n---\n` +
      ` x | 2 +-\n\ndiff --git a/${diff}\n-- \n2.39.5\n\n`
    const x = `x b/x\nindex 1..2 100644\n${one('@@ -1,2 +1 @@\n a\n-- \n')}`
    const y = `y b/y\nindex 1..2 100644\n${one(hunk, 'y')}`
    expect(await readBack(mail(1, x) + mail(2, y), { x: 'a\n- \n', y: 'a\n' })).toEqual({
      x: 'a\n',
      y: 'b\n',
    })
  })

  it('takes diffs of two folders, and of names without prefix', async () => {
    const folders = `diff -ru old/x new/x\n--- old/x\t2026-01-01\n+++ new/x\t2026-01-02\n${hunk}`
    expect(await readBack(`${folders}Only in new: y\n`, { x: 'a\n' })).toEqual({ x: 'b\n' })
    expect(await readBack(`--- x\n+++ x\n${hunk}`, { x: 'a\n' })).toEqual({ x: 'b\n' })
  })

  it('takes what `astra status` prints of a new file', async () => {
    expect(await readBack(one('@@ -0,0 +1,1 @@\n+new\n', 'src/new.js'), {})).toEqual({
      'src/new.js': 'new\n',
    })
  })

  it('takes files that change their names with each other', async () => {
    const rename = (from: string, to: string) =>
      `diff --git a/${from} b/${to}\nsimilarity index 100%\nrename from ${from}\nrename to ${to}\n`
    const diff = rename('x', 'y') + rename('y', 'x')
    expect(await readBack(diff, { x: '1', y: '2' })).toEqual({ x: '2', y: '1' })
  })

  it('names files whose mode changes, and takes their contents', async () => {
    const modes = 'old mode 100644\nnew mode 100755\n'
    const diff = `diff --git a/run.sh b/run.sh\n${modes}diff --git a/x b/x\nindex 1..2 100644\n`
    const { patch, modes: named } = await read(diff + one(hunk), { 'run.sh': '', x: 'a\n' })
    expect(named).toEqual(['run.sh'])
    expect(patch.files.map((file) => file.path)).toEqual(['x'])
  })

  it('finds nothing in an empty diff and in prose', async () => {
    expect(readDiff('')).toEqual([])
    expect(readDiff('- a list\n+ of things\n')).toEqual([])
  })
})

describe('a diff that cannot be taken word for word is refused, and the file is named', () => {
  const base = { x: 'a\n', y: '1\n2\n3\n4\n5\n6\n7\n8\n9\n', 'dir/z': '' }
  const head = (rest: string, path = 'x') => `diff --git a/${path} b/${path}\n${rest}`
  const cases: [string, string, RegExp][] = [
    ['another text', one('@@ -1 +1 @@\n-b\n+c\n'), /does not fit x: hunk 1 of 1/],
    ['its lines elsewhere', one('@@ -3 +3 @@\n-2\n+two\n', 'y'), /does not fit y: hunk 1 of 1/],
    [
      'a second hunk that does not fit',
      one('@@ -1 +1 @@\n-1\n+one\n@@ -8,2 +8,2 @@\n 8\n-nine\n+9\n', 'y'),
      /does not fit y: hunk 2 of 2/,
    ],
    ['overlapping hunks', one('@@ -1,2 +1 @@\n-1\n 2\n@@ -2 +1 @@\n-2\n+b\n', 'y'), /hunk 2 of 2/],
    ['a newline that is not there', one(`${hunk}\\ No newline at end of file\n`, 'y'), /y: hunk 1/],
    ['other line ends', one('@@ -1 +1 @@\n-a\r\n+b\r\n'), /does not fit x/],
    ['headers with CRLF', one(hunk).replaceAll('\n', '\r\n'), /changed to CRLF/],
    ['a cut end', one('@@ -1 +1,2 @@\n-a\n+b\n'), /cannot be read/],
    ['more lines than announced', one(`${hunk}+c\n`), /cannot be read/],
    ['a hunk header that is none', one(`${hunk}@@-8 +8@@\n-8\n+eight\n`), /outside of its hunks/],
    ['a file without hunks', '--- a/x\n+++ b/x\n', /outside of its hunks/],
    ['hunks without a file', hunk, /cannot be read/],
    ['a binary file', head('Binary files a/x and b/x differ\n'), /x is binary/],
    ['a binary patch', head('GIT binary patch\nliteral 3\nKc$\n\n'), /x is binary/],
    ['a binary file without git', 'Binary files old/x and new/x differ\n', /new\/x is binary/],
    ['a link', head('new file mode 120000\n', 'l'), /l is a link/],
    ['a submodule', head('index 1..2 160000\n', 's'), /s is a submodule/],
    ['a merge', 'diff --cc x\n--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n', /a merge/],
    ['a missing file', one(hunk, 'gone'), /gone, which is not in the workspace/],
    [
      'a new file that is there',
      head(`new file mode 100644\n${one('@@ -0,0 +1 @@\n+b\n')}`),
      /has it/,
    ],
    [
      'half a deletion',
      head(`deleted file mode 100644\n${one('@@ -1 +0,0 @@\n-1\n', 'y')}`, 'y'),
      /y/,
    ],
    ['one file twice', one(hunk) + one(hunk), /x is changed more than once/],
    ['two names', `--- one.js\n+++ two.js\n${hunk}`, /two\.js of one\.js/],
    ['a path above', one(hunk, '../x'), /leaves the workspace/],
    ['a path from the root', `--- /etc/x\n+++ /etc/x\n${hunk}`, /leaves the workspace/],
    ['an empty part', one(hunk, 'dir//z'), /leaves the workspace/],
    ['a path in .git', one(hunk, 'sub/.GIT/config'), /inside \.git/],
    ['a rename out', head('rename from x\nrename to ../y\n'), /leaves the workspace/],
    ['a file below a file', one('@@ -0,0 +1 @@\n+b\n', 'x/y'), /x is a file/],
    ['a file where a folder is', one('@@ -0,0 +1 @@\n+b\n', 'dir'), /it is a folder/],
    ['an unclear name', 'diff --git one two\nnew file mode 100644\n', /cannot tell which file/],
  ]
  it.each(cases)('%s', async (_title, diff, message) => {
    const reading = (async () => read(diff, base))()
    await expect(reading).rejects.toThrow(UsageError)
    await expect(reading).rejects.toThrow(message)
  })

  it('a file that is no UTF-8', async () => {
    const bytes = { paths: new Set(['x']), read: async () => Buffer.from([0xe9, 0x0a]) }
    await expect(patchFromDiff(readDiff(one(hunk)), bytes)).rejects.toThrow(/x is not UTF-8/)
  })
})
