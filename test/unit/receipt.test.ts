import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Receipt } from '../../shared/contracts/receipt.ts'
import type { SigningKey } from '../../shared/keys/signing-key.ts'
import { keyIdOf } from '../../shared/keys/trusted-keys.ts'
import { receiptProblem } from '../../shared/receipt.ts'
import { sampleReceipt } from '../support/memory.ts'

const key = newKey()
const trusted = new Map<string, KeyObject>([[key.keyId, createPublicKey(key.privateKey)]])
const receipt = sampleReceipt(key)
const problem = (altered: Receipt) => receiptProblem(altered, trusted)

function newKey(): SigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return { keyId: keyIdOf(publicKey), privateKey }
}

type Path = readonly (string | number)[]

/** Every place in a value: `results`, `results.b1`, `results.b1.passed`, `targets.0`, ... */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const keys = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value)
  const inside = keys.flatMap((name) => pathsIn(Reflect.get(value, name), [...path, name]))
  return path.length === 0 ? inside : [path, ...inside]
}

/** The receipt with something else at that place of its body; nothing there with `undefined`. */
function bodyWith(path: Path, value: unknown): Receipt {
  const altered = structuredClone(receipt)
  const parent = path.slice(0, -1).reduce<object>((at, name) => Reflect.get(at, name), altered.body)
  Reflect.set(parent, path.at(-1) ?? '', value)
  return altered
}

function shuffled(value: unknown, seed: number): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([name, each]) => [name, shuffled(each, seed)] as const)
  const turn = seed % Math.max(entries.length, 1)
  return Object.fromEntries([...entries.slice(turn), ...entries.slice(0, turn)])
}

describe('a receipt', () => {
  it('is believed when a trusted key signed it, in whatever order its fields come', () => {
    expect(problem(receipt)).toBeNull()
    for (let seed = 1; seed < 20; seed += 1) {
      const body = shuffled(receipt.body, seed) as Receipt['body']
      expect(JSON.stringify(body)).not.toBe(JSON.stringify(receipt.body))
      expect(problem({ ...receipt, body })).toBeNull()
    }
  })

  it.each(pathsIn(receipt.body).map((path) => [path.join('.'), path] as const))(
    'is not believed with anything else as its %s, or without it',
    (_, path) => {
      const altered = { reason: 'altered_receipt' }
      expect(problem(bodyWith(path, undefined))).toMatchObject(altered)
      fc.assert(
        fc.property(fc.jsonValue(), (value) => {
          const changed = bodyWith(path, value)
          fc.pre(JSON.stringify(changed) !== JSON.stringify(receipt))
          expect(problem(changed)).toMatchObject(altered)
        }),
      )
    },
  )

  it('is not believed with a field more', () => {
    expect(problem(bodyWith(['note'], 'x'))).toMatchObject({ reason: 'altered_receipt' })
    expect(problem(bodyWith(['results', 'b3'], {}))).toMatchObject({ reason: 'altered_receipt' })
  })

  it('is not believed with any other signature', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: 80 }), (bytes) => {
        const signature = Buffer.from(bytes).toString('base64')
        fc.pre(signature !== receipt.signature)
        expect(problem({ ...receipt, signature })).toMatchObject({ reason: 'altered_receipt' })
      }),
    )
  })

  it('is not believed from a key that is not trusted, under its own id or that of another', () => {
    const foreign = sampleReceipt(newKey())
    expect(problem(foreign)).toMatchObject({ reason: 'untrusted_key' })
    expect(problem({ ...foreign, key_id: key.keyId })).toMatchObject({ reason: 'altered_receipt' })
  })
})
