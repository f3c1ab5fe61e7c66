import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { sha256 } from './contracts/ids.ts'
import { type Receipt, type ReceiptBody, receiptSchema } from './contracts/receipt.ts'

/** The test-runner's signing key: it alone reads the private half. */
export type SigningKey = { keyId: string; privateKey: KeyObject }

const keyFolder = (home: string) => join(home, 'keys')
const trustedFolder = (home: string) => join(home, 'keys', 'trusted')

/** Reads the installation's Ed25519 key, or makes it at the first start (files 0600, folder 0700). */
export function loadSigningKey(home: string): SigningKey {
  const file = join(keyFolder(home), 'signing.pem')
  if (!existsSync(file)) makeSigningKey(home, file)
  const privateKey = createPrivateKey(readFileSync(file))
  return { keyId: keyIdOf(createPublicKey(privateKey)), privateKey }
}

function makeSigningKey(home: string, file: string): void {
  mkdirSync(trustedFolder(home), { recursive: true, mode: 0o700 })
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' })
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  // The public half first: a private key without its trusted half would sign receipts in vain.
  writeFileSync(join(trustedFolder(home), `${keyIdOf(publicKey)}.pem`), publicPem, { mode: 0o600 })
  const temporary = `${file}.${process.pid}.tmp`
  writeFileSync(temporary, privatePem, { mode: 0o600, flag: 'wx', flush: true })
  renameSync(temporary, file)
}

/** The public keys whose receipts this installation believes, by key id. */
export function loadTrustedKeys(home: string): Map<string, KeyObject> {
  const folder = trustedFolder(home)
  if (!existsSync(folder)) return new Map()
  const keys = readdirSync(folder)
    .filter((name) => name.endsWith('.pem'))
    .map((name) => createPublicKey(readFileSync(join(folder, name))))
  return new Map(keys.map((key) => [keyIdOf(key), key]))
}

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

function keyIdOf(publicKey: KeyObject): string {
  return sha256(publicKey.export({ type: 'spki', format: 'der' })).slice(0, 16)
}

/** JSON with sorted keys: the same bytes whatever order the fields came in. */
function canonicalBytes(body: ReceiptBody): Buffer {
  const sorted = Object.fromEntries(Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1)))
  return Buffer.from(JSON.stringify(sorted))
}
