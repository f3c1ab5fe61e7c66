import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findGitFolder } from '../../services/cli/snapshot/git-folder.ts'
import { normaliseRemote, repositoryIdOf } from '../../services/cli/snapshot/repository-id.ts'

let folder: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'astra-repository-')))
  mkdirSync(join(folder, 'sub'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function writeConfig(text: string): void {
  mkdirSync(join(folder, '.git'), { recursive: true })
  writeFileSync(join(folder, '.git/config'), text)
}

const idOf = async (path: string) => repositoryIdOf(path, await findGitFolder(path))

it.each([
  'https://GitHub.com/owner/name.git',
  'https://user:ghp_secret@github.com/owner/name',
  'git@github.com:owner/name.git',
  'ssh://git@github.com/owner/name.git/',
  'github.com:owner/name',
])('gives %s the id of its repository, without credentials', (remote) => {
  expect(normaliseRemote(remote)).toBe('github.com/owner/name')
})

it('takes origin before other remotes, from any folder of the repository', async () => {
  writeConfig(
    '[core]\n\tbare = false\n[remote "fork"]\n\turl = git@x.org:a/b\n' +
      '[remote "origin"]\n\turl = https://t:k@y.org/c/d.git\n[branch "main"]\n\tremote = origin\n',
  )
  expect(await idOf(join(folder, 'sub'))).toBe('y.org/c/d')
})

it('is one and the same for all folders of a repository without a remote that others reach', async () => {
  writeConfig('[remote "origin"]\n\turl = /srv/git/name.git\n')
  const id = await idOf(folder)
  expect(id).toMatch(/^path:[0-9a-f]{32}$/)
  expect(await idOf(join(folder, 'sub'))).toBe(id)
})

it('is of the folder itself outside a repository', async () => {
  expect(await idOf(folder)).not.toBe(await idOf(join(folder, 'sub')))
})

it('stays below the length that a record allows', async () => {
  writeConfig(`[remote "origin"]\n\turl = https://x.org/${'a'.repeat(500)}\n`)
  expect(await idOf(folder)).toMatch(/^remote:[0-9a-f]{32}$/)
})
