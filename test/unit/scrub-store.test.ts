import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { memoryIdOf } from '../../shared/contracts/ids.ts'
import { storePayloadSchema } from '../../shared/contracts/memory.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { scrubStore, secretInReceipt } from '../../shared/scrub/scrub-store.ts'
import { createScrubber } from '../../shared/scrub/scrubber.ts'
import { fakeSecrets } from '../support/fake-secrets.ts'
import { samplePayload, sampleReceipt } from '../support/memory.ts'

const home = mkdtempSync(join(tmpdir(), 'astra-scrub-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
const key = loadSigningKey(home)
const scrub = createScrubber([])
const { github, stripe } = fakeSecrets

describe('the payload of a store', () => {
  it('without secrets stays as it is, and so does its id', async () => {
    const payload = samplePayload(key, 'run-1')
    const clean = await scrubStore(payload, scrub)
    expect(clean).toEqual({ ...payload, scrubbed: [] })
    expect(memoryIdOf({ session_id: 'run-1', ...clean.claim })).toBe(
      memoryIdOf({ session_id: 'run-1', ...payload.claim }),
    )
  })

  it('loses the secrets of every text, and says how many and by which rule', async () => {
    const payload = { ...samplePayload(key, 'run-1'), receipt: null }
    const { claim, evidence } = payload
    const tainted = {
      ...payload,
      claim: {
        fix_description: `used ${stripe}`,
        error_type: `E ${stripe}`,
        file_paths: [`src/${github}.ts`],
        outcome: `passed ${github}`,
      },
      evidence: {
        ...evidence,
        symptom_raw: `raw ${github}`,
        symptom: `normal ${github}`,
        diff: `+key = ${github}`,
        failing_tests: [`sends ${github}`],
        model: `model ${github}`,
      },
      scrubbed: [{ rule: 'stripe', count: 5 }],
    }
    const clean = await scrubStore(tainted, scrub)
    const text = JSON.stringify(clean)
    for (const secret of [github, stripe]) expect(text).not.toContain(secret.slice(0, 12))
    expect(clean.scrubbed).toEqual([
      { rule: 'github', count: 7 },
      { rule: 'stripe', count: 7 },
    ])
    expect(clean.claim.file_paths).toEqual(['src/[removed: github].ts'])
    expect(claim.file_paths).toEqual(['src/names.ts'])
    expect((await scrubStore(clean, scrub)).scrubbed).toEqual(clean.scrubbed)
  })

  it('stays within the limits of the contract where a marker is longer than the secret', async () => {
    const payload = { ...samplePayload(key, 'run-1'), receipt: null }
    const address = `ab://c:${'x1'}@d `
    const fill = (max: number) => address.repeat(Math.floor(max / address.length)).trim()
    const tainted = {
      ...payload,
      claim: { ...payload.claim, fix_description: fill(4000), error_type: fill(200) },
      evidence: {
        ...payload.evidence,
        symptom: fill(16_000),
        diff: fill(64_000),
        model: fill(100),
      },
    }
    const clean = await scrubStore(tainted, scrub)
    expect(storePayloadSchema.safeParse(clean).success).toBe(true)
    expect(JSON.stringify(clean).includes(':x1@')).toBe(false)
    expect(JSON.stringify(await scrubStore(clean, scrub)) === JSON.stringify(clean)).toBe(true)
  })
})

describe('a receipt', () => {
  it('that is signed with a secret cannot be stored', async () => {
    for (const changes of [
      { targets: [`sends ${github}`] },
      { command: `TOKEN=${github} pytest` },
    ]) {
      const why = await secretInReceipt(sampleReceipt(key, changes), scrub)
      expect(why).toContain('github')
      expect(why).not.toContain(github)
    }
  })

  it('of ordinary tests holds none', async () => {
    expect(await secretInReceipt(sampleReceipt(key), scrub)).toBeNull()
    expect(await secretInReceipt(null, scrub)).toBeNull()
  })
})
