import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { KeyFileError, readKeyFile, writeKeyFile } from './key-file.ts'
import { keyIdOf, removeTrustedKey, trustKey } from './trusted-keys.ts'

/** The key that receipts are signed with: only the test-runner uses its private half. */
export type SigningKey = { keyId: string; privateKey: KeyObject }

const signingFile = (home: string) => join(home, 'keys', 'signing.pem')

/** Reads the installation's Ed25519 key, or makes it at the first start. Throws KeyFileError. */
export function loadSigningKey(home: string): SigningKey {
  return readSigningKey(home) ?? makeFirstKey(home)
}

/**
 * Null when none was made yet. Throws KeyFileError for a damaged file: with a new key in its place
 * nobody would learn of the damage.
 */
export function readSigningKey(home: string): SigningKey | null {
  const file = signingFile(home)
  const pem = readKeyFile(file)
  if (pem === null) return null
  let cause: unknown
  try {
    const privateKey = createPrivateKey(pem)
    const keyId = keyIdOf(createPublicKey(privateKey))
    if (privateKey.asymmetricKeyType === 'ed25519') return { keyId, privateKey }
  } catch (error) {
    cause = error
  }
  throw new KeyFileError(`the signing key ${file} is damaged: it holds no Ed25519 private key`, {
    hint:
      'put it back from a copy, or move it away and run `astra keys rotate` for a new one: ' +
      'what the old key signed stays proved',
    cause,
  })
}

/** Makes a new signing key. Receipts of the one before stay proved: its public half stays trusted. */
export function rotateSigningKey(home: string): { keyId: string; previous: string | null } {
  const previous = readSigningKey(home)?.keyId ?? null
  const { keyId, privatePem } = newTrustedKey(home)
  writeKeyFile(signingFile(home), privatePem, 'replace')
  return { keyId, previous }
}

function makeFirstKey(home: string): SigningKey {
  const { keyId, privatePem } = newTrustedKey(home)
  // Another process may have been quicker; its key stays, as it may have signed already.
  if (!writeKeyFile(signingFile(home), privatePem, 'first')) removeTrustedKey(home, keyId)
  return loadSigningKey(home)
}

/** The public half first: a private key without its trusted half would sign receipts in vain. */
function newTrustedKey(home: string): { keyId: string; privatePem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  trustKey(home, publicKey, { source: 'own', name: null })
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { keyId: keyIdOf(publicKey), privatePem }
}
