import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Item, Output } from '../../services/offline-model/repair/items.ts'
import { nextOutput } from '../../services/offline-model/repair/next-output.ts'
import { renameEverything } from '../support/rename-everything.ts'
import {
  type Files,
  hasPytest,
  type Play,
  playRepair,
  type Runner,
  readProject,
  repairTools,
  withProject,
} from '../support/repair-driver.ts'

const fixtures = resolve(import.meta.dirname, '../fixtures/offline-model')
const LONG = 180_000

type Project = { name: string; runner: Runner }
const node = (name: string): Project => ({ name, runner: 'node' })
const python = (name: string): Project => ({ name, runner: 'pytest' })

const mendable = [
  node('tag-list-ts'),
  node('pager-js'),
  node('scores-ts'),
  node('fetcher-js'),
  node('thermostat-ts'),
  node('calendar-js'),
  node('distance-ts'),
  python('header-names-py'),
  python('basket-py'),
  python('inventory-py'),
  python('access-py'),
  python('logfile-py'),
]

const filesOf = ({ name }: Project) => readProject(join(fixtures, name))

async function repair(project: Project, more: Partial<Parameters<typeof playRepair>[0]> = {}) {
  return repairFiles(await filesOf(project), project.runner, more)
}

function repairFiles(
  files: Files,
  runner: Runner,
  more: Partial<Parameters<typeof playRepair>[0]> = {},
): Promise<Play & { before: Files; after: Files }> {
  return withProject(files, async (folder) => {
    const play = await playRepair({ folder, runner, ...more })
    return { ...play, before: files, after: await readProject(folder) }
  })
}

const calls = (items: readonly Item[]) => items.filter((item) => item.type === 'call')
const changed = (before: Files, after: Files) =>
  Object.keys(after).filter((path) => after[path] !== before[path])

const trimMemory = `Match 1 (score=0.4100)
Fix: In readNames (src/input.js): trim surrounding whitespace from each part after splitting.
Error type: AssertionError
Files: src/input.js
Outcome: node passed with exit code 0
Confirmed: 2026-11-01T10:00:00+00:00
Session: s-1`

describe('whole repairs', () => {
  for (const project of mendable) {
    it.skipIf(project.runner === 'pytest' && !hasPytest)(
      `mends ${project.name} without touching its tests, and stores what it did`,
      async () => {
        const play = await repair(project)
        expect(play.fixed).toBe(true)
        expect(changed(play.before, play.after).filter((path) => /test/.test(path))).toEqual([])
        expect(play.stored).toMatchObject({
          file_paths: changed(play.before, play.after),
          outcome: `${project.runner} passed with exit code 0`,
          fix_description: expect.stringMatching(/^In .*Symptom: /s),
          error_type: expect.stringMatching(/Error$/),
        })
        expect(play.finalText).toContain('[local stand-in, not Astra]')
        expect(play.finalText).toContain('Verified')
      },
      LONG,
    )
  }

  it.each([node('tag-list-ts'), node('scores-ts'), node('fetcher-js')])(
    'mends $name with every identifier, file and word renamed',
    async (project) => {
      const files = renameEverything(await filesOf(project))
      const sources = Object.keys(files).filter((path) => path !== 'package.json')
      const known = Object.keys(await filesOf(project))
      expect(sources.filter((path) => known.includes(path))).toEqual([])
      expect((await repairFiles(files, project.runner)).fixed).toBe(true)
    },
    LONG,
  )

  it.skipIf(!hasPytest)(
    'mends header-names-py with every identifier, file and word renamed',
    async () => {
      const files = renameEverything(await filesOf(python('header-names-py')))
      expect(Object.values(files).join()).not.toMatch(/mailbox|header|canonical|reply|subject/i)
      expect((await repairFiles(files, 'pytest')).fixed).toBe(true)
    },
    LONG,
  )
})

describe('memory', () => {
  it(
    'needs no more requests with a fix that fits, and fewer where it had to try',
    async () => {
      const project = node('tag-list-ts')
      const files = renameEverything(await filesOf(project))
      const without = await repairFiles(files, 'node')
      const hinted = await repairFiles(files, 'node', { memory: trimMemory })
      expect(hinted.fixed).toBe(true)
      expect(hinted.requests).toBeLessThanOrEqual(without.requests)
      const misleading = node('pager-js')
      expect((await repair(misleading, { memory: trimMemory })).fixed).toBe(true)
    },
    LONG,
  )

  it(
    'waits for a late search before its first edit',
    async () => {
      const play = await repair(node('scores-ts'), { searchDelay: 50 })
      const names = calls(play.items).map((call) => call.name)
      expect(play.fixed).toBe(true)
      expect(names).toContain('wait_for_tasks')
      expect(names.indexOf('wait_for_tasks')).toBeLessThan(names.indexOf('apply_edit'))
    },
    LONG,
  )

  it(
    'searches with an ordinary tool as well',
    async () => {
      const tools = repairTools.map((tool) => ({ ...tool, async: false }))
      const play = await repair(node('scores-ts'), { tools })
      expect(play.fixed).toBe(true)
      expect(calls(play.items).map((call) => call.name)).not.toContain('wait_for_tasks')
    },
    LONG,
  )
})

describe('honest ends', () => {
  for (const project of [node('overlapping-ranges-ts'), python('task-order-py')]) {
    it.skipIf(project.runner === 'pytest' && !hasPytest)(
      `gives up on ${project.name} within its limits, with the files as they were`,
      async () => {
        const play = await repair(project)
        expect(play.fixed).toBe(false)
        expect(play.stored).toBeNull()
        expect(play.finalText).toContain('No repair was found')
        expect(play.after).toEqual(play.before)
        expect(play.requests).toBeLessThanOrEqual(36)
        expect(play.toolCalls).toBeLessThan(120)
      },
      LONG,
    )
  }

  it(
    'takes its edit back and ends when a tool says that a limit is near',
    async () => {
      let runs = 0
      const ask = (items: readonly Item[]): Output[] => {
        const seen = items.map((item): Item => {
          if (item.type !== 'output' || !item.text.includes('"failing"')) return item
          runs += 1
          const text = '{"error":{"code":"max_tool_calls_limit","message":"one call is left"}}'
          return { ...item, text }
        })
        return nextOutput(seen, repairTools)
      }
      const play = await repair(node('pager-js'), { ask })
      expect(runs).toBeGreaterThan(0)
      expect(play.finalText).toContain('a limit of the run is near')
      expect(play.after).toEqual(play.before)
    },
    LONG,
  )
})

describe('calls that were cut off', () => {
  it(
    'runs the tests again instead of giving up an edit that nobody judged',
    async () => {
      const ask = (items: readonly Item[]): Output[] => {
        const first = items.findIndex(
          (item) => item.type === 'output' && item.text.includes('"failing"'),
        )
        const seen = items.map((item, index): Item => {
          if (index !== first || item.type !== 'output') return item
          return { ...item, text: '{"error":{"code":"aborted","message":"cut off"}}' }
        })
        return nextOutput(seen, repairTools)
      }
      const play = await repair(node('scores-ts'), { ask })
      const names = calls(play.items).map((call) => call.name)
      expect(play.fixed).toBe(true)
      expect(names.filter((name) => name === 'apply_edit')).toHaveLength(1)
      expect(names.filter((name) => name === 'run_tests')).toHaveLength(2)
    },
    LONG,
  )
})

describe('state', () => {
  it(
    'is read from the conversation alone: another process gives the same next step',
    async () => {
      const play = await repair(node('pager-js'))
      const run = promisify(execFile)
      const module = resolve(
        import.meta.dirname,
        '../../services/offline-model/repair/next-output.ts',
      )
      const program = `import { nextOutput } from ${JSON.stringify(module)}
        const [items, tools] = JSON.parse(process.argv[1])
        process.stdout.write(JSON.stringify(nextOutput(items, tools)))`
      const half = play.items.slice(
        0,
        play.items.findIndex((item) => item.type === 'call' && item.name === 'apply_edit'),
      )
      const { stdout } = await run(
        process.execPath,
        ['--input-type=module', '-e', program, JSON.stringify([half, repairTools])],
        { timeout: 100_000 },
      )
      expect(JSON.parse(stdout)).toEqual(nextOutput(half, repairTools))
    },
    LONG,
  )
})
