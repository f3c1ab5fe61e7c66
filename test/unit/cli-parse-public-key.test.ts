import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parsePublicKey } from '../../services/cli/parse-public-key.ts'
import { keyIdOf, publicPemOf } from '../../shared/keys/trusted-keys.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const pem = publicPemOf(publicKey)
const key_id = keyIdOf(publicKey)
const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey

describe('a public key is taken', () => {
  it.each([
    ['as PEM', pem],
    ['as PEM with words and empty lines around it', `from Ann\r\n\n${pem}\n\n`],
    ['as the JSON of an export', JSON.stringify({ key_id, public_key: pem })],
  ])('%s', (_, text) => {
    expect(parsePublicKey(text).equals(publicKey)).toBe(true)
  })
})

describe('anything else is refused by what it is:', () => {
  const another = keyIdOf(generateKeyPairSync('ed25519').publicKey)
  const cases: [string, string, RegExp][] = [
    ['a private key', privatePem, /this is a private key/],
    ['a private key behind its public half', pem + privatePem, /this is a private key/],
    ['a private key in JSON', JSON.stringify({ key: privatePem }), /this is a private key/],
    ['a private JWK', JSON.stringify(privateKey.export({ format: 'jwk' })), /private key/],
    ['a private key of SSH', '-----BEGIN OPENSSH PRIVATE KEY-----\nx', /this is a private key/],
    ['an RSA key', publicPemOf(rsa), /of type rsa, and receipts need Ed25519/],
    ['an RSA key of its own form', rsa.export({ type: 'pkcs1', format: 'pem' }).toString(), /RSA/],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n', /holds "CERTIFICATE"/],
    ['two keys', pem + pem, /2 keys: trust one at a time/],
    ['a cut key', pem.replace(/.{20}=\n/, '\n'), /damaged/],
    ['nothing', ' \n', /the text is empty/],
    ['words', 'ssh-ed25519 AAAAC3Nz', /no key in PEM/],
    ['broken JSON', '{"key_id":', /begins as JSON and is none/],
    ['JSON of something else', '{"name":"x"}', /no key_id and public_key/],
    ['JSON with another id', JSON.stringify({ key_id: another, public_key: pem }), /was changed/],
  ]
  it.each(cases)('%s', (_, text, message) => {
    expect(() => parsePublicKey(text)).toThrow(message)
    expect(() => parsePublicKey(text)).toThrow(expect.objectContaining({ code: 'usage' }))
  })
})
