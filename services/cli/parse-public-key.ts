import { createPublicKey, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { UsageError } from '../../shared/errors.ts'
import { keyIdOf } from '../../shared/keys/trusted-keys.ts'

const exportedSchema = z.object({ key_id: z.string(), public_key: z.string() })

const wanted = {
  hint: 'give what `astra keys export` prints there: an Ed25519 public key in PEM, or its JSON',
}

/**
 * The Ed25519 public key in a text that a person got from somewhere. Throws UsageError that says
 * what is there instead, and first of all for a private key, which Node would take as well.
 */
export function parsePublicKey(text: string): KeyObject {
  if (/PRIVATE KEY|"d"\s*:/.test(text)) {
    throw new UsageError('this is a private key, and nothing was done with it', {
      hint:
        'a private key must never be handed out: whoever has it can sign receipts. If it left ' +
        'its machine, run `astra keys rotate` and `astra keys distrust` there, and ask for the ' +
        'public key, which `astra keys export` prints',
    })
  }
  if (text.trim() === '') throw new UsageError('there is no key: the text is empty', wanted)
  return text.trim().startsWith('{') ? fromJson(text) : fromPem(text)
}

function fromJson(text: string): KeyObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new UsageError('this begins as JSON and is none', wanted)
  }
  const exported = exportedSchema.safeParse(value)
  if (!exported.success) throw new UsageError('this JSON has no key_id and public_key', wanted)
  const publicKey = fromPem(exported.data.public_key)
  const keyId = keyIdOf(publicKey)
  if (keyId === exported.data.key_id) return publicKey
  throw new UsageError(
    `the JSON says key ${exported.data.key_id} and holds key ${keyId}: one of them was changed`,
    { hint: 'export the key again, and compare its id with the person who made it' },
  )
}

function fromPem(text: string): KeyObject {
  const labels = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g)].map((found) => found[1])
  if (labels.length === 0) throw new UsageError('this is no key in PEM', wanted)
  if (labels.length > 1) {
    throw new UsageError(`there are ${labels.length} keys: trust one at a time`, wanted)
  }
  if (labels[0] !== 'PUBLIC KEY') {
    throw new UsageError(`this holds "${labels[0]}", which is no Ed25519 public key`, wanted)
  }
  let publicKey: KeyObject
  try {
    publicKey = createPublicKey(text)
  } catch (cause) {
    throw new UsageError('this public key is damaged: it cannot be read', { ...wanted, cause })
  }
  const type = publicKey.asymmetricKeyType
  if (type === 'ed25519') return publicKey
  throw new UsageError(`this is a public key of type ${type}, and receipts need Ed25519`, wanted)
}
