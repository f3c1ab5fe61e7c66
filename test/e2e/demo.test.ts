import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Astra, createAstra } from '../support/astra.ts'

let astra: Astra
beforeAll(async () => {
  astra = await createAstra()
})
afterAll(() => astra.remove())

describe('the demo and the experiment', () => {
  it('shows by its records that a proved fix reached a later session and did no harm elsewhere', async () => {
    const file = join(astra.home, 'demo.json')
    const { code, stdout } = await astra.cli(['demo', '--json', file])
    const { checks, sessions } = JSON.parse(await readFile(file, 'utf8'))
    expect(checks.filter((check: { holds: boolean }) => !check.holds)).toEqual([])
    expect(sessions).toHaveLength(3)
    expect(stdout).toContain('not Astra')
    expect(stdout.trim().split('\n').at(-1)).toContain('keep them: astra demo --keep')
    expect(code).toBe(0)
  })

  it('repeats one task with the record of its first session alone, for both kinds of recall', async () => {
    const file = join(astra.home, 'experiment.json')
    const { code, stdout } = await astra.cli(['experiment', '--sessions', '2', '--json', file])
    expect(code, stdout).toBe(0)
    for (const recall of ['tool', 'prefetch']) expect(stdout).toContain(recall)
    expect(stdout).toMatch(/1 +No /)
    expect(stdout).toMatch(/2 +Yes /)
  })
})
