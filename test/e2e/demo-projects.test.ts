import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import type { RunView } from '../../shared/contracts/run-view.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'

const templates = join(productRoot, 'demo_projects/templates')
const readme = readFileSync(join(productRoot, 'demo_projects/README.md'), 'utf8')
/** Rows of the table: `| folder | what it is | language | runner | tests | failing |`. */
const projects = [...readme.matchAll(/^\| `([a-z_/]+)` \|(.*)\|$/gm)].map(
  ([, folder = '', columns = '']) => ({ folder, runner: columns.split('|')[2]?.trim() ?? '' }),
)
/** Named in the README as more than a small edit. */
const beyond = ['more/build_planner', 'more/csv_import']

const hasPytest = succeeds('python3', ['-m', 'pytest', '--version'])
const hasPython = succeeds('python3', ['--version'])

function succeeds(program: string, args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function isRunnable(runner: string): boolean {
  if (runner.includes('pytest')) return hasPytest
  return runner.includes('unittest') ? hasPython : true
}

let astra: Astra
let lease: Lease
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-e2e-'))
  astra = await createAstra()
  lease = await astra.hold()
})
afterAll(async () => {
  await lease.release()
  await astra.remove()
  await rm(folder, { recursive: true, force: true })
})

async function fix(
  project: string,
): Promise<{ view: RunView & { applied: boolean }; code: number | null }> {
  const workspace = join(folder, project.replaceAll('/', '-'))
  await cp(join(templates, project), workspace, { recursive: true })
  const { stdout, stderr, code } = await astra.cli(['fix', workspace, '--offline', '--json'])
  if (!stdout.trim()) throw new Error(stderr)
  return { view: JSON.parse(stdout), code }
}

describe('fix --offline on a copy of each demo project', () => {
  it('covers all of them', () => {
    expect(projects.length).toBeGreaterThanOrEqual(16)
    const runners = new Set(projects.map((each) => each.runner))
    expect([...runners].sort()).toEqual(['node --test', 'pytest', 'unittest'])
    for (const project of beyond) expect(projects.map((each) => each.folder)).toContain(project)
  })

  for (const { folder: project, runner } of projects) {
    const run = it.skipIf(!isRunnable(runner))
    if (beyond.includes(project)) {
      run(`ends ${project} honestly as not_fixed, with the workspace as it was`, async () => {
        const { view, code } = await fix(project)
        expect(view).toMatchObject({ status: 'not_fixed', applied: false, stored_memory_id: null })
        expect(code).toBe(3)
      })
      continue
    }
    run(`mends ${project}, proves it on the original tests, stores it and applies it`, async () => {
      const { view, code } = await fix(project)
      expect(view, view.message).toMatchObject({
        status: 'fixed',
        applied: true,
        dropped_paths: [],
      })
      expect(view.verification?.passing_after.sort()).toEqual(
        view.verification?.failing_before.sort(),
      )
      expect(view.stored_memory_id).not.toBeNull()
      expect(view.recall.delivered_before_first_edit).toBe(true)
      expect(code).toBe(0)
    })
  }
})
