import { type KeyObject, sign, verify } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import { type Receipt, type ReceiptBody, receiptSchema } from './contracts/receipt.ts'
import type { SigningKey } from './keys/signing-key.ts'

export { loadSigningKey, type SigningKey } from './keys/signing-key.ts'
export { loadTrustedKeys } from './keys/trusted-keys.ts'

export function signReceipt(body: ReceiptBody, key: SigningKey): Receipt {
  const signature = sign(null, canonicalBytes(body), key.privateKey).toString('base64')
  return { body, key_id: key.keyId, signature }
}

/** Says why a receipt is not to be believed, or null when it is. Takes any value. */
export function receiptProblem(value: unknown, trusted: Map<string, KeyObject>): string | null {
  const parsed = receiptSchema.safeParse(value)
  if (!parsed.success) return 'the receipt is malformed'
  const { body, key_id, signature } = parsed.data
  const key = trusted.get(key_id)
  if (!key) return `the receipt is signed with an unknown key ${key_id}`
  const genuine = verify(null, canonicalBytes(body), key, Buffer.from(signature, 'base64'))
  return genuine ? null : 'the receipt was altered after it was signed'
}

function canonicalBytes(body: ReceiptBody): Buffer {
  return Buffer.from(canonicalJson(body))
}
