import { type KeyObject, sign, verify } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import type { Receipt, ReceiptBody } from './contracts/receipt.ts'
import type { SigningKey } from './keys/signing-key.ts'

export type ReceiptProblem = { reason: 'untrusted_key' | 'altered_receipt'; message: string }

export function signReceipt(body: ReceiptBody, key: SigningKey): Receipt {
  const signature = sign(null, canonicalBytes(body), key.privateKey).toString('base64')
  return { body, key_id: key.keyId, signature }
}

/** Says why a receipt is not to be believed, or null when it is. */
export function receiptProblem(
  { body, key_id, signature }: Receipt,
  trusted: Map<string, KeyObject>,
): ReceiptProblem | null {
  const key = trusted.get(key_id)
  if (!key) {
    return {
      reason: 'untrusted_key',
      message: `the receipt is signed with key ${key_id}, which is not trusted here`,
    }
  }
  if (verify(null, canonicalBytes(body), key, Buffer.from(signature, 'base64'))) return null
  return { reason: 'altered_receipt', message: 'the receipt was altered after it was signed' }
}

function canonicalBytes(body: ReceiptBody): Buffer {
  return Buffer.from(canonicalJson(body))
}
