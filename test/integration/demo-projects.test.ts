import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  type Dirent,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { DEMO_REPAIRS } from '../support/demo-repairs.ts'

const DEMO_PROJECTS = join(import.meta.dirname, '../../demo_projects')
const TEMPLATES = join(DEMO_PROJECTS, 'templates')
const GIVES_THE_ANSWER_AWAY =
  /bug|fix ?me|to-?do\b|broken|wrong|mistake|incorrect|faulty|off[- ]by[- ]one|hack|\bxxx\b/i
/** One a failure, as node's TAP reporter and pytest print it. */
const ASSERTION_FAILED = /code: 'ERR_ASSERTION'|^E {7}AssertionError/gm

type Runner = 'node --test' | 'pytest' | 'unittest'
type Project = { name: string; runner: Runner; tests: number; failing: number }
type Counts = { passed: number; failed: number }

/** What the README states about each project: the figures that the tests below hold it to. */
function statedProjects(): Project[] {
  const rows = readFileSync(join(DEMO_PROJECTS, 'README.md'), 'utf8').matchAll(
    /^\| `([^`]+)` \|.*\| (node --test|pytest|unittest) \| (\d+) \| (\d+) \|$/gm,
  )
  return [...rows].map(([, name = '', runner, tests, failing]) => ({
    name,
    runner: runner as Runner,
    tests: Number(tests),
    failing: Number(failing),
  }))
}

function command(runner: Runner): [string, string[]] {
  if (runner === 'node --test') return [process.execPath, ['--test', '--test-reporter=tap']]
  return ['python3', ['-m', runner]]
}

function canRun(runner: Runner): boolean {
  const [program] = command(runner)
  const probe = runner === 'pytest' ? ['-m', 'pytest', '--version'] : ['--version']
  return spawnSync(program, probe, { timeout: 100_000 }).status === 0
}

function count(output: string, pattern: RegExp): number {
  return [...output.matchAll(pattern)].reduce((sum, match) => sum + Number(match[1]), 0)
}

function countResults(runner: Runner, output: string): Counts {
  if (runner === 'node --test') {
    return { passed: count(output, /^# pass (\d+)$/gm), failed: count(output, /^# fail (\d+)$/gm) }
  }
  if (runner === 'pytest') {
    return { passed: count(output, /\b(\d+) passed/g), failed: count(output, /\b(\d+) failed/g) }
  }
  const failed = count(output, /(?:failures|errors)=(\d+)/g)
  return { passed: count(output, /^Ran (\d+) tests? in/gm) - failed, failed }
}

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function copyOf(project: Project): string {
  const folder = mkdtempSync(join(tmpdir(), 'astra-demo-project-'))
  folders.push(folder)
  cpSync(join(TEMPLATES, project.name), folder, { recursive: true })
  return folder
}

function runTests(runner: Runner, cwd: string): { exitCode: number | null; output: string } {
  const [program, args] = command(runner)
  const env = {
    ...process.env,
    // What the person who runs this suite has set for a runner would change how results are printed.
    FORCE_COLOR: undefined,
    NODE_OPTIONS: undefined,
    PYTEST_ADDOPTS: undefined,
    // Bytecode is dated in whole seconds: a repair within the same second could go unnoticed.
    PYTHONDONTWRITEBYTECODE: '1',
  }
  const run = spawnSync(program, args, { cwd, env, encoding: 'utf8', timeout: 100_000 })
  return { exitCode: run.status, output: run.stdout + run.stderr }
}

function repair(project: Project, folder: string): void {
  const edit = DEMO_REPAIRS[project.name]
  if (edit === undefined) throw new Error(`no repair is kept for ${project.name}`)
  const path = join(folder, edit.file)
  const parts = readFileSync(path, 'utf8').split(edit.old)
  if (parts.length !== 2) throw new Error(`${edit.old} stands ${parts.length - 1} times in ${path}`)
  writeFileSync(path, parts.join(edit.new))
}

function entriesOf(folder: string): Dirent[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
}

function filesOf(folder: string): string[] {
  const files = entriesOf(folder).filter((entry) => entry.isFile())
  return files.map((entry) => join(entry.parentPath, entry.name)).sort()
}

function hashOf(folder: string): string {
  const files = filesOf(folder).map((path) => [path, readFileSync(path, 'base64')])
  return createHash('sha256').update(JSON.stringify(files)).digest('hex')
}

const projects = statedProjects()
const runners = new Set(projects.map((project) => project.runner))
const runnable = new Map([...runners].map((runner) => [runner, canRun(runner)]))

describe('the list of demo projects', () => {
  it('names every template that there is, and no other', () => {
    const found = readdirSync(TEMPLATES).flatMap((group) =>
      readdirSync(join(TEMPLATES, group)).map((name) => `${group}/${name}`),
    )
    expect(projects.map((project) => project.name).sort()).toEqual(found.sort())
  })

  it('stands beside templates alone, without solutions', () => {
    expect(readdirSync(DEMO_PROJECTS).sort()).toEqual(['README.md', 'templates'])
  })
})

describe.each(projects)('$name', (project) => {
  const template = join(TEMPLATES, project.name)
  const { runner, tests, failing } = project

  it.skipIf(!runnable.get(runner))(
    `has ${failing} of ${tests} tests fail before the repair and none after (${runner} needed)`,
    () => {
      const before = hashOf(template)
      const folder = copyOf(project)

      const red = runTests(runner, folder)
      expect(countResults(runner, red.output), red.output).toEqual({
        passed: tests - failing,
        failed: failing,
      })
      expect(red.exitCode).toBe(1)
      // The failures are those of the tests, not of a file that could not be loaded.
      expect(red.output).not.toMatch(/SyntaxError|ImportError|ERR_MODULE_NOT_FOUND/)
      if (project.name.includes('scenario_')) {
        expect(red.output.match(ASSERTION_FAILED), red.output).toHaveLength(failing)
      }

      repair(project, folder)
      const green = runTests(runner, folder)
      expect(countResults(runner, green.output), green.output).toEqual({ passed: tests, failed: 0 })
      expect(green.exitCode).toBe(0)

      expect(hashOf(template)).toBe(before)
    },
  )

  it('is a small folder of plain files that does not give the answer away', () => {
    expect(entriesOf(template).filter((entry) => entry.isSymbolicLink())).toEqual([])
    for (const path of filesOf(template)) {
      expect(statSync(path).size, path).toBeLessThanOrEqual(20_000)
      expect(readFileSync(path, 'utf8'), path).not.toMatch(GIVES_THE_ANSWER_AWAY)
    }
  })
})
