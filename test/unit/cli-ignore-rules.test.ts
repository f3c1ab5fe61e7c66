import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findGitFolder } from '../../services/cli/snapshot/git-folder.ts'
import { listWorkspace } from '../../services/cli/snapshot/list-workspace.ts'

// For git and for us: the rules of whoever runs the tests must not count.
const home = realpathSync(mkdtempSync(join(tmpdir(), 'astra-ignore-home-')))
const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1' }
const realHome = process.env.HOME
beforeAll(() => {
  process.env.HOME = home
})
afterAll(() => {
  process.env.HOME = realHome
  rmSync(home, { recursive: true })
})

const name = fc.constantFrom('a', 'b', 'ab', 'a.js', 'b.js', 'c d', 'x[1]')
const path = fc.array(name, { minLength: 1, maxLength: 4 })
const pattern = fc.constantFrom(
  ...['a', 'b', 'a/', '/a', '/b/', 'a/b', 'a/*', '*.js', '!*.js', '!a', '!a/', '!b.js', '**/b'],
  ...['a/**', 'a/**/b', '**/a/b.js', '*', '!*/', '/*', '!/a', 'x[1]', 'x\\[1\\]', 'c d', 'c\\ d'],
  ...['[ab]', '[!a]', '?', 'b.js ', 'b.js\\ ', '#c', '', '!', '/', '*.j?', 'a*', '*b/', '**'],
)
const ignoreFile = fc.record({
  folder: fc.array(name, { maxLength: 3 }),
  patterns: fc.array(pattern, { minLength: 1, maxLength: 5 }),
})

it('takes exactly the files that git takes, for any tree with any ignore and tracked files', async () => {
  const trees = fc.record({
    files: fc.array(path, { minLength: 1, maxLength: 14 }),
    ignores: fc.array(ignoreFile, { minLength: 1, maxLength: 3 }),
    tracked: fc.array(fc.nat(13), { maxLength: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(trees, async ({ files, ignores, tracked }) => {
      const root = realpathSync(mkdtempSync(join(tmpdir(), 'astra-ignore-')))
      try {
        execFileSync('git', ['init', '-q'], { cwd: root, env })
        for (const file of files) write(join(root, ...file), '')
        for (const { folder, patterns } of ignores) {
          write(join(root, ...folder, '.gitignore'), `${patterns.join('\n')}\n`)
        }
        for (const each of tracked) {
          const file = files[each]?.join('/')
          if (file && existsSync(join(root, file))) {
            execFileSync('git', ['add', '-f', '--', `:(literal)${file}`], { cwd: root, env })
          }
        }
        const list = await listWorkspace(root, await findGitFolder(root), {
          home: join(root, 'none'),
          maxFiles: 1000,
        })
        expect(list.files.toSorted()).toEqual(filesOfGit(root))
      } finally {
        rmSync(root, { recursive: true })
      }
    }),
    { numRuns: 60 },
  )
})

/** A path may need a folder where another one is a file; it is left out of the tree then. */
function write(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['EEXIST', 'ENOTDIR', 'EISDIR'].includes(code)) throw error
  }
}

function filesOfGit(root: string): string[] {
  const args = ['ls-files', '-co', '--exclude-standard', '-z']
  const text = execFileSync('git', args, { cwd: root, env, encoding: 'utf8' })
  return [...new Set(text.split('\0').filter(Boolean))].toSorted()
}

describe("the rules of the person's own git", () => {
  const settings: [string, Record<string, string>][] = [
    ['the usual place', { '.config/git/ignore': '*.mine\n' }],
    ['~/.gitconfig', { '.gitconfig': '[core]\n\texcludesFile = ~/all\n', all: '*.mine\n' }],
    [
      'a configuration that another one overrules',
      {
        '.config/git/config': '[core]\n\texcludesfile = none\n',
        '.gitconfig': `[user]\n\tname = a\n[core]\n\texcludesfile = "${home}/all"\n`,
        all: '*.mine\n',
        '.config/git/ignore': '*.js\n',
      },
    ],
  ]

  it.each(settings)('are those of %s, weaker than those of the project', async (_, files) => {
    const root = join(home, 'project')
    for (const [path, text] of Object.entries(files)) write(join(home, path), text)
    for (const file of ['a.mine', 'keep.mine', 'b.js', 'sub/c.mine']) write(join(root, file), '')
    write(join(root, '.gitignore'), '!keep.mine\n')
    execFileSync('git', ['init', '-q'], { cwd: root, env })
    const git = await findGitFolder(root)
    const { files: taken } = await listWorkspace(root, git, { home: '/none', maxFiles: 100 })
    expect(taken.toSorted()).toEqual(filesOfGit(root))
    expect(taken).toEqual(['.gitignore', 'b.js', 'keep.mine'])
    for (const name of readdirSync(home)) rmSync(join(home, name), { recursive: true })
  })
})
