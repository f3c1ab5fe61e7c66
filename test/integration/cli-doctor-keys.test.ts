import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { examineKeys } from '../../services/cli/doctor/doctor-keys.ts'
import { loadSigningKey, rotateSigningKey } from '../../shared/keys/signing-key.ts'
import { removeTrustedKey } from '../../shared/keys/trusted-keys.ts'
import { runAstra } from '../support/cli.ts'

let folder: string
let home: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'astra-doctor-'))
  home = join(folder, 'astra')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('has nothing against an installation without keys, or with good ones', () => {
  expect(examineKeys({ home })).toMatchObject({ result: 'ok', advice: null })
  loadSigningKey(home)
  const { keyId } = rotateSigningKey(home)
  const found = `${keyId} signs, 2 trusted`
  expect(examineKeys({ home })).toEqual({ result: 'ok', found, advice: null })
})

it('names a damaged file of a trusted key, says what to do, and that helps', async () => {
  const { keyId } = loadSigningKey(home)
  rotateSigningKey(home)
  const file = join(home, 'keys', 'trusted', `${keyId}.json`)
  writeFileSync(file, '{ "key_id": ')
  const { code, stdout } = await runAstra(['doctor'], { home: folder })
  expect(code).toBe(1)
  expect(stdout).toContain(`the key file ${file} is damaged`)
  expect(stdout).toMatch(/put it back from a copy, or `astra keys distrust` the key/)
  expect(await runAstra(['keys', 'distrust', keyId], { home: folder })).toMatchObject({ code: 0 })
  expect(examineKeys({ home })).toMatchObject({ result: 'ok' })
})

it('names a damaged signing key', () => {
  loadSigningKey(home)
  writeFileSync(join(home, 'keys', 'signing.pem'), 'not a key')
  expect(examineKeys({ home })).toMatchObject({
    result: 'fail',
    found: expect.stringContaining('signing.pem is damaged'),
    advice: expect.stringContaining('astra keys rotate'),
  })
  expect(readdirSync(join(home, 'keys', 'trusted'))).toHaveLength(1)
})

it('says that a signing key proves nothing while it is not trusted', () => {
  const { keyId } = loadSigningKey(home)
  removeTrustedKey(home, keyId)
  expect(examineKeys({ home })).toMatchObject({
    result: 'fail',
    found: expect.stringContaining(`${keyId} is not trusted`),
    advice: expect.stringContaining('astra keys trust'),
  })
})
