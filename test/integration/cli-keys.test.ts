import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runAstra } from '../support/cli.ts'

let here: string
let there: string
beforeEach(() => {
  here = mkdtempSync(join(tmpdir(), 'astra-cli-'))
  there = mkdtempSync(join(tmpdir(), 'astra-cli-'))
})
afterEach(() => {
  for (const home of [here, there]) rmSync(home, { recursive: true, force: true })
})

/** The JSON of a command that must end with that exit code. */
async function keys(home: string, args: string[], options: { code?: number; input?: string } = {}) {
  const { code = 0, ...rest } = options
  const result = await runAstra(['keys', ...args, '--json'], { home, ...rest })
  expect(result.code, result.stderr + result.stdout).toBe(code)
  return JSON.parse(result.stdout)
}

describe('keys', () => {
  it('travel from one installation to another, as PEM in a file and as JSON through a pipe', async () => {
    const { key_id } = await keys(there, ['rotate'])
    const pem = await runAstra(['keys', 'export'], { home: there })
    expect(pem).toMatchObject({ code: 0, stderr: '' })
    writeFileSync(join(here, 'their.pem'), pem.stdout)
    const added = await keys(here, ['trust', 'their.pem', '--name', 'CI'])
    expect(added).toEqual({ key_id, name: 'CI', added: true })
    const input = JSON.stringify(await keys(there, ['export', key_id]))
    expect(await keys(here, ['trust', '-'], { input })).toMatchObject({ key_id, added: false })
    expect(await keys(here, ['list'])).toMatchObject({
      signing: null,
      keys: [{ key_id, signs: false, source: 'trusted', name: 'CI' }],
    })
    const { stdout } = await runAstra(['keys', 'list'], { home: here })
    expect(stdout).toMatch(new RegExp(`^${key_id} .* trusted +CI$`, 'm'))
  })

  it('are all kept by rotations at the same time, and one of them signs', async () => {
    const { key_id: first } = await keys(here, ['rotate'])
    const rotations = await Promise.all(Array.from({ length: 5 }, () => keys(here, ['rotate'])))
    const made = rotations.map(({ key_id }) => key_id)
    const listed = await keys(here, ['list'])
    const ids = listed.keys.map((key: { key_id: string }) => key.key_id)
    expect(ids.sort()).toEqual([first, ...made].sort())
    expect(made).toContain(listed.signing)
  })

  it('that leaked are distrusted after a rotation, and not before', async () => {
    const { key_id } = await keys(here, ['rotate'])
    const refused = await keys(here, ['distrust', key_id], { code: 2 })
    expect(refused.error.hint).toContain('astra keys rotate')
    await keys(here, ['rotate'])
    expect(await keys(here, ['distrust', key_id])).toEqual({ key_id, distrusted: true })
    const gone = await keys(here, ['distrust', key_id], { code: 2 })
    expect(gone.error.message).toContain(`there is no trusted key ${key_id}`)
    expect((await keys(here, ['list'])).keys).toHaveLength(1)
  })

  it('are not made by looking, and nothing starts for it', async () => {
    expect(await keys(here, ['list'])).toEqual({ signing: null, keys: [] })
    const { error } = await keys(here, ['export'], { code: 2 })
    expect(error.hint).toContain('astra keys rotate')
    expect(existsSync(join(here, 'astra'))).toBe(false)
  })

  it('that cannot be read are named with code 1', async () => {
    const file = join(here, 'astra', 'keys', 'signing.pem')
    mkdirSync(file, { recursive: true })
    const { error } = await keys(here, ['list'], { code: 1 })
    expect(error.message).toContain(`the key file ${file} cannot be read`)
    expect(error.hint).toContain('with mode 0600')
  })

  it('that are damaged are named with code 1, and stay as they are', async () => {
    await keys(here, ['rotate'])
    const file = join(here, 'astra', 'keys', 'signing.pem')
    writeFileSync(file, 'not a key')
    for (const command of ['list', 'rotate', 'export']) {
      const { error } = await keys(here, [command], { code: 1 })
      expect(error.message).toContain(file)
      expect(error.hint).toContain('put it back from a copy')
    }
    expect(readdirSync(join(here, 'astra', 'keys', 'trusted'))).toHaveLength(1)
  })
})

describe('trust refuses', () => {
  it('a private key, and says that it must never be handed out', async () => {
    await keys(there, ['rotate'])
    const file = join(there, 'astra', 'keys', 'signing.pem')
    const { error } = await keys(here, ['trust', file], { code: 2 })
    expect(error.message).toContain('this is a private key')
    expect(error.hint).toContain('must never be handed out')
    expect(existsSync(join(here, 'astra', 'keys'))).toBe(false)
  })

  it.each([
    ['a missing file', 'nowhere', /cannot read .*nowhere/],
    ['a folder', '.', /cannot read .*EISDIR/],
    ['a file without an end', '/dev/zero', /too large/],
    ['an empty stdin', '-', /the text is empty/],
  ])('%s', async (_, file, message) => {
    const { error } = await keys(here, ['trust', file], { code: 2 })
    expect(error.message).toMatch(message)
  })

  it('a name of more than one line, and an id that is a path', async () => {
    const named = await keys(here, ['trust', '-', '--name', 'a\nb'], { code: 2 })
    expect(named.error.message).toContain('on one line')
    const path = await keys(here, ['distrust', '../signing'], { code: 2 })
    expect(path.error.message).toContain('A key id is 16 digits')
  })
})
