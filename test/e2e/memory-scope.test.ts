import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'

const template = join(productRoot, 'demo_projects/templates/typescript/scenario_alpha')

let astra: Astra
let folder: string
let lease: Lease
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-scope-'))
  astra = await createAstra({ ASTRA_MEMORY_SHARING: 'repository' })
  lease = await astra.hold()
})
afterAll(async () => {
  await lease?.release()
  await astra.remove()
  await rm(folder, { recursive: true, force: true })
})

/** Breaks the project in that folder, which is a repository of its own, and has it repaired. */
async function recalled(repository: string, recall: string): Promise<string[]> {
  const workspace = join(folder, repository)
  await cp(template, workspace, { recursive: true })
  const args = ['fix', workspace, '--offline', '--recall', recall, '--json']
  const { code, stdout, stderr } = await astra.cli(args)
  expect(code, stderr).toBe(0)
  const { recall: seen } = JSON.parse(stdout)
  return seen.returned.map((match: { memory_id: string }) => match.memory_id)
}

it.each(['tool', 'prefetch'])(
  'where nothing is shared, a run finds the fixes of its own repository and of no other (%s)',
  async (recall) => {
    expect(await recalled(`one-${recall}`, recall)).toEqual([])
    expect(await recalled(`one-${recall}`, recall)).toHaveLength(1)
    expect(await recalled(`other-${recall}`, recall)).toEqual([])
  },
)

it('a search by a person is answered for the repository that it is made in, or that it names', async () => {
  const { records } = JSON.parse((await astra.cli(['memory', 'list', '--json'])).stdout)
  const shown = await astra.cli(['memory', 'show', records.at(-1).memory_id, '--json'])
  const { repository_id, symptom } = JSON.parse(shown.stdout)
  const search = ['memory', 'search', symptom]
  const found = async (args: string[], cwd: string) => {
    const { matches } = JSON.parse((await astra.cli([...args, '--json'], { cwd })).stdout)
    return matches.length
  }
  expect(await found(search, join(folder, 'one-tool'))).toBeGreaterThan(0)
  expect(await found([...search, '--repository', repository_id], folder)).toBeGreaterThan(0)
  const elsewhere = await astra.cli(search, { cwd: folder })
  expect(elsewhere.stdout).toMatch(/^nothing relevant among 0 records of repository path:/)
})
