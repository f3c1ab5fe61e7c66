import { execFile } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadSigningKey, rotateSigningKey } from '../../shared/keys/signing-key.ts'
import {
  keyIdOf,
  listTrustedKeys,
  loadTrustedKeys,
  publicPemOf,
  removeTrustedKey,
  trustKey,
} from '../../shared/keys/trusted-keys.ts'
import { receiptProblem } from '../../shared/receipt.ts'
import { sampleReceipt } from '../support/memory.ts'

let home: string
let signingFile: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'astra-keys-'))
  signingFile = join(home, 'keys', 'signing.pem')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const trustedFile = (name: string) => join(home, 'keys', 'trusted', name)
const newPublicKey = (): KeyObject => generateKeyPairSync('ed25519').publicKey
const someone = { source: 'trusted', name: null } as const

describe('the signing key', () => {
  it('is made at the first start, trusted, and the same ever after', () => {
    const { keyId } = loadSigningKey(home)
    expect(loadSigningKey(home).keyId).toBe(keyId)
    expect(listTrustedKeys(home)).toMatchObject([{ key_id: keyId, source: 'own', name: null }])
  })

  it('stands in files and folders that nobody else may read, with nothing left beside it', () => {
    const { keyId } = loadSigningKey(home)
    const modes = ['keys', 'keys/signing.pem', 'keys/trusted', `keys/trusted/${keyId}.json`]
    const modeOf = (path: string) => statSync(join(home, path)).mode & 0o777
    expect(modes.map(modeOf)).toEqual([0o700, 0o600, 0o700, 0o600])
    expect(readdirSync(join(home, 'keys')).sort()).toEqual(['signing.pem', 'trusted'])
    expect(readdirSync(join(home, 'keys', 'trusted'))).toEqual([`${keyId}.json`])
  })

  it('is one key when several processes start at once', async () => {
    const module = resolve(import.meta.dirname, '../../shared/keys/signing-key.ts')
    const script = `const { loadSigningKey } = await import(${JSON.stringify(module)})
      process.stdout.write(loadSigningKey(${JSON.stringify(home)}).keyId)`
    const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
    const started = await Promise.all(Array.from({ length: 6 }, start))
    const { keyId } = loadSigningKey(home)
    expect(started.map(({ stdout }) => stdout)).toEqual(Array(6).fill(keyId))
    expect([...loadTrustedKeys(home).keys()]).toEqual([keyId])
  })

  it('is another after a rotation, and what the earlier ones signed stays proved', () => {
    const receipts = [1, 2, 3].map(() => {
      const receipt = sampleReceipt(loadSigningKey(home))
      expect(rotateSigningKey(home).previous).toBe(receipt.key_id)
      return receipt
    })
    receipts.push(sampleReceipt(loadSigningKey(home)))
    expect(new Set(receipts.map(({ key_id }) => key_id)).size).toBe(4)
    const trusted = loadTrustedKeys(home)
    expect(receipts.map((receipt) => receiptProblem(receipt, trusted))).toEqual(Array(4).fill(null))
  })

  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  it.each([
    ['empty', ''],
    ['cut short', '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw'],
    ['of another type', rsa.export({ type: 'pkcs8', format: 'pem' })],
  ])('is never replaced when its file is %s', (_, damaged) => {
    const before = loadSigningKey(home).keyId
    writeFileSync(signingFile, damaged)
    for (const act of [loadSigningKey, rotateSigningKey]) {
      expect(() => act(home)).toThrow(`the signing key ${signingFile} is damaged`)
    }
    expect(readFileSync(signingFile, 'utf8')).toBe(damaged)
    expect([...loadTrustedKeys(home).keys()]).toEqual([before])
  })
})

describe('trusted keys', () => {
  it('are added once, keep when they were added, and take a new name', () => {
    const key = newPublicKey()
    const first = trustKey(home, key, { source: 'trusted', name: 'CI' })
    expect(first).toMatchObject({ added: true, key: { name: 'CI', source: 'trusted' } })
    expect(trustKey(home, key, someone)).toEqual({ ...first, added: false })
    const renamed = trustKey(home, key, { source: 'trusted', name: 'build server' })
    expect(renamed).toEqual({ added: false, key: { ...first.key, name: 'build server' } })
    expect(listTrustedKeys(home)).toEqual([renamed.key])
  })

  it('that are its own stay so when they are given to it again', () => {
    const { keyId, privateKey } = loadSigningKey(home)
    trustKey(home, createPublicKey(privateKey), { source: 'trusted', name: 'me' })
    expect(listTrustedKeys(home)).toMatchObject([{ key_id: keyId, source: 'own', name: 'me' }])
  })

  it('prove nothing once they were removed', () => {
    const receipt = sampleReceipt(loadSigningKey(home))
    rotateSigningKey(home)
    expect(removeTrustedKey(home, receipt.key_id)).toBe(true)
    expect(removeTrustedKey(home, receipt.key_id)).toBe(false)
    expect(receiptProblem(receipt, loadTrustedKeys(home))?.reason).toBe('untrusted_key')
  })

  it('are read as the first version wrote them, and removed', () => {
    loadSigningKey(home)
    const key = newPublicKey()
    const keyId = keyIdOf(key)
    writeFileSync(trustedFile(`${keyId}.pem`), publicPemOf(key))
    expect(loadTrustedKeys(home).get(keyId)?.equals(key)).toBe(true)
    trustKey(home, key, { source: 'trusted', name: 'old' })
    expect(listTrustedKeys(home).find((each) => each.key_id === keyId)).toMatchObject({
      source: 'own',
      name: 'old',
    })
    expect(removeTrustedKey(home, keyId)).toBe(true)
    expect(loadTrustedKeys(home).has(keyId)).toBe(false)
  })

  it.each([
    ['that is no JSON', (text: string) => text.slice(0, 40)],
    ['that lacks a field', () => '{}'],
    ['that holds another key', () => JSON.stringify(trustKey(home, newPublicKey(), someone).key)],
  ])('in a file %s are an error that names it, until it is removed', (_, damage) => {
    const { key_id } = trustKey(home, newPublicKey(), someone).key
    const file = trustedFile(`${key_id}.json`)
    writeFileSync(file, damage(readFileSync(file, 'utf8')))
    expect(() => loadTrustedKeys(home)).toThrow(`the key file ${file} is damaged`)
    expect(removeTrustedKey(home, key_id)).toBe(true)
    expect(loadTrustedKeys(home).has(key_id)).toBe(false)
  })
})
