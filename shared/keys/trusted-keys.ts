import { createPublicKey, type KeyObject } from 'node:crypto'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { sha256 } from '../contracts/ids.ts'
import { KeyFileError, readKeyFile, writeKeyFile } from './key-file.ts'

export const keyIdSchema = z.string().regex(/^[0-9a-f]{16}$/)

/** A public key whose receipts count here, as its file holds it. */
const trustedKeySchema = z.strictObject({
  key_id: keyIdSchema,
  /** `own`: made by this installation; `trusted`: given to it by a person. */
  source: z.enum(['own', 'trusted']),
  name: z.string().nullable(),
  since: z.iso.datetime(),
  public_key: z.string(),
})
export type TrustedKey = z.infer<typeof trustedKeySchema>

const trustedFolder = (home: string) => join(home, 'keys', 'trusted')
const fileOf = (home: string, keyId: string) => join(trustedFolder(home), `${keyId}.json`)
/** How the first version kept its own keys. */
const plainFileOf = (home: string, keyId: string) => join(trustedFolder(home), `${keyId}.pem`)

/** What a key is named by: the start of the hash of its public half. */
export function keyIdOf(publicKey: KeyObject): string {
  return sha256(publicKey.export({ type: 'spki', format: 'der' })).slice(0, 16)
}

export function publicPemOf(publicKey: KeyObject): string {
  return publicKey.export({ type: 'spki', format: 'pem' }).toString()
}

/** All trusted keys, oldest first. Throws KeyFileError that names a file that is damaged. */
export function listTrustedKeys(home: string): TrustedKey[] {
  const folder = trustedFolder(home)
  if (!existsSync(folder)) return []
  const ids = readdirSync(folder).flatMap((name) => /^(.+)\.(?:json|pem)$/.exec(name)?.[1] ?? [])
  return [...new Set(ids)]
    .flatMap((keyId) => readTrustedKey(home, keyId) ?? [])
    .sort((a, b) => a.since.localeCompare(b.since))
}

/** The public keys whose receipts this installation believes, by key id. */
export function loadTrustedKeys(home: string): Map<string, KeyObject> {
  const keys = listTrustedKeys(home)
  return new Map(keys.map((key) => [key.key_id, createPublicKey(key.public_key)]))
}

/** Null when the key is not trusted. Throws KeyFileError when its file is damaged. */
export function readTrustedKey(home: string, keyId: string): TrustedKey | null {
  const file = fileOf(home, keyId)
  const text = readKeyFile(file)
  if (text !== null) return checked(file, keyId, () => trustedKeySchema.parse(JSON.parse(text)))
  const plainFile = plainFileOf(home, keyId)
  const public_key = readKeyFile(plainFile)
  if (public_key === null) return null
  const since = statSync(plainFile).mtime.toISOString()
  const key = { key_id: keyId, source: 'own', name: null, since, public_key } as const
  return checked(plainFile, keyId, () => key)
}

function checked(file: string, keyId: string, read: () => TrustedKey): TrustedKey {
  let cause: unknown
  try {
    const key = read()
    const publicKey = createPublicKey(key.public_key)
    if (publicKey.asymmetricKeyType === 'ed25519' && keyIdOf(publicKey) === keyId) return key
  } catch (error) {
    cause = error
  }
  throw new KeyFileError(`the key file ${file} is damaged: it does not hold the key ${keyId}`, {
    hint:
      'put it back from a copy, or `astra keys distrust` the key, or remove the file: ' +
      'what it signed counts as unproved then',
    cause,
  })
}

/** Adds a public key, or does nothing when it is there under that name. */
export function trustKey(
  home: string,
  publicKey: KeyObject,
  { source, name }: Pick<TrustedKey, 'source' | 'name'>,
): { key: TrustedKey; added: boolean } {
  const key_id = keyIdOf(publicKey)
  const known = readTrustedKey(home, key_id)
  if (known && (name === null || name === known.name)) return { key: known, added: false }
  const key: TrustedKey = known
    ? { ...known, name }
    : { key_id, source, name, since: new Date().toISOString(), public_key: publicPemOf(publicKey) }
  writeKeyFile(fileOf(home, key_id), `${JSON.stringify(key, null, 2)}\n`, 'replace')
  return { key, added: known === null }
}

/** Takes a key's trust away; a damaged file goes too. False when there was none. */
export function removeTrustedKey(home: string, keyId: string): boolean {
  const files = [fileOf(home, keyId), plainFileOf(home, keyId)].filter((file) => existsSync(file))
  for (const file of files) rmSync(file, { force: true })
  return files.length > 0
}
