import { spawn, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Item, Output, Tool } from '../../services/offline-model/repair/items.ts'
import { nextOutput } from '../../services/offline-model/repair/next-output.ts'
import { userPath } from '../../shared/user-path.ts'

export type Files = Record<string, string>
export type Runner = 'node' | 'pytest'

export const hasPytest = spawnSync('python3', ['-m', 'pytest', '--version']).status === 0

const commands: Record<Runner, string> = { node: 'node --test', pytest: 'python3 -m pytest' }

/** The tools of a run, as the repair program sees their definitions. */
export const repairTools: Tool[] = [
  'search_codebase_memory',
  'wait_for_tasks',
  'store_fix_memory',
  'list_project_files',
  'read_file',
  'search_project_files',
  'apply_edit',
  'run_tests',
].map((name) => ({ name, async: name === 'search_codebase_memory', parameters: null }))

export type TestRun = { passed: number; failed: number; failing: string[]; output: string }

/** Writes a project into a new temporary folder. */
export async function writeProject(files: Files): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'astra-repair-'))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

/** The project's text files by path, without what test runs leave behind. */
export async function readProject(folder: string): Promise<Files> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !/__pycache__|\.pytest_cache|\.pyc$/.test(path))
    .sort()
  const texts = await Promise.all(files.map((path) => readFile(join(folder, path), 'utf8')))
  return Object.fromEntries(files.map((path, index) => [path, texts[index] ?? '']))
}

export async function runTests(folder: string, runner: Runner): Promise<TestRun> {
  const [file, args] =
    runner === 'node'
      ? [process.execPath, ['--test', '--test-reporter=tap']]
      : ['python3', ['-m', 'pytest', '-q', '-rf', '-p', 'no:cacheprovider']]
  const output = await outputOf(file, args, folder)
  const count = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? '0')
  if (runner === 'pytest') {
    const failing = [...output.matchAll(/^FAILED (\S+::\S+)/gm)].map((match) => match[1] ?? '')
    return {
      passed: count(/(\d+) passed/),
      failed: count(/(\d+) (?:failed|error)/),
      failing,
      output: output.slice(-8000),
    }
  }
  const failing = [...output.matchAll(/^not ok \d+ - (.+)$/gm)].map((match) => match[1] ?? '')
  return {
    passed: count(/^# pass (\d+)/m),
    failed: count(/^# fail (\d+)/m),
    failing,
    output: output.slice(-8000),
  }
}

function outputOf(file: string, args: string[], cwd: string): Promise<string> {
  const env = {
    PATH: userPath(process.env),
    HOME: process.env.HOME,
    PYTHONDONTWRITEBYTECODE: '1',
    TZ: 'America/New_York',
  }
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, timeout: 100_000, killSignal: 'SIGKILL' })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.once('error', reject)
    child.once('close', () => resolve(output))
  })
}

export type Play = {
  fixed: boolean
  requests: number
  toolCalls: number
  finalText: string
  stored: Record<string, unknown> | null
  items: Item[]
}

type Options = {
  folder: string
  runner: Runner
  /** What the memory search answers. */
  memory?: string
  tools?: Tool[]
  /** How many later requests the search's answer is held back. */
  searchDelay?: number
  ask?: (items: readonly Item[], tools: readonly Tool[]) => Output[] | Promise<Output[]>
}

/** Plays a whole run: the program asks for tools, the driver runs them in the folder. */
export async function playRepair(options: Options): Promise<Play> {
  const { folder, runner, tools = repairTools } = options
  const baseline = await runTests(folder, runner)
  const memory = options.memory ?? 'No relevant confirmed fixes found.'
  const game: Game = { host: { folder, runner, memory }, tools, delay: options.searchDelay ?? 0 }
  const items: Item[] = [
    { type: 'message', role: 'user', text: firstMessage(commands[runner], baseline) },
  ]
  const held: Held[] = []
  let toolCalls = 0
  for (let requests = 1; requests <= 60; requests += 1) {
    const outputs = await (options.ask ?? nextOutput)(items, tools)
    const last = outputs.find((output) => output.type === 'message')
    if (last) return { requests, toolCalls, finalText: last.text, items, ...verdictOf(items) }
    toolCalls += outputs.length
    items.push(...(await playRound(game, outputs, held, requests)))
  }
  throw new Error('the repair program did not end within 60 requests')
}

type Held = { item: Item; until: number }
type Game = { host: Host; tools: readonly Tool[]; delay: number }

/** The calls of one response, then their outputs: late ones first, ordinary ones last. */
async function playRound(
  { host, tools, delay }: Game,
  outputs: readonly Output[],
  held: Held[],
  requests: number,
): Promise<Item[]> {
  const calls: Item[] = []
  const answers: Item[] = []
  for (const [index, output] of outputs.entries()) {
    if (output.type === 'message') continue
    const callId = `call-${requests}-${index}`
    const async = tools.find((tool) => tool.name === output.name)?.async === true
    calls.push({ type: 'call', callId, name: output.name, args: output.args, async })
    const text = await answerOf(host, output.name, output.args)
    const item: Item = { type: 'output', callId, text }
    if (async) held.push({ item, until: requests + delay })
    else answers.push(item)
  }
  const waiting = calls.some((call) => call.type === 'call' && call.name === 'wait_for_tasks')
  const due = held.filter(({ until }) => waiting || until <= requests)
  held.splice(0, held.length, ...held.filter((each) => !due.includes(each)))
  return [...calls, ...due.map(({ item }) => item), ...answers]
}

function verdictOf(items: readonly Item[]): Pick<Play, 'fixed' | 'stored'> {
  const store = items.find((item) => item.type === 'call' && item.name === 'store_fix_memory')
  const runs = items.filter((item) => item.type === 'output' && item.text.includes('"failing"'))
  const last = runs.at(-1)
  return {
    fixed: last?.type === 'output' && last.text.includes('passed with exit code 0'),
    stored: store?.type === 'call' ? store.args : null,
  }
}

export function firstMessage(command: string, run: TestRun): string {
  const failing = run.failing.map((name) => `- ${name}`).join('\n')
  return `Mend the failing tests.\n\nThe tests were run before you were asked: ${command}\nFailing tests:\n${failing}\nOutput:\n${run.output}`
}

type Host = { folder: string; runner: Runner; memory: string }

async function answerOf(host: Host, name: string, args: Record<string, unknown>): Promise<string> {
  const path = String(args.path ?? '')
  switch (name) {
    case 'search_codebase_memory':
      return host.memory
    case 'list_project_files':
      return JSON.stringify({
        files: Object.keys(await readProject(host.folder)),
        truncated: false,
      })
    case 'read_file':
      return JSON.stringify({ path, content: await readFile(join(host.folder, path), 'utf8') })
    case 'apply_edit':
      return applyEdit(host.folder, path, String(args.old_text), String(args.new_text))
    case 'run_tests': {
      const run = await runTests(host.folder, host.runner)
      const green = run.failed === 0 && run.passed > 0
      const confirmed = green ? `${host.runner} passed with exit code 0` : null
      return JSON.stringify({ command: args.command, ...run, confirmed_outcome: confirmed })
    }
    case 'store_fix_memory':
      return JSON.stringify({ memory_id: '3f1d7c9e-0000-5000-8000-000000000001' })
    case 'wait_for_tasks':
      return JSON.stringify({ tasks: [] })
    default:
      return JSON.stringify({ error: { code: 'unknown_tool', message: name } })
  }
}

async function applyEdit(
  folder: string,
  path: string,
  oldText: string,
  newText: string,
): Promise<string> {
  const text = await readFile(join(folder, path), 'utf8')
  if (text.split(oldText).length !== 2) {
    return JSON.stringify({ error: { code: 'no_single_match', message: 'not exactly one match' } })
  }
  await writeFile(
    join(folder, path),
    text.replace(oldText, () => newText),
  )
  return JSON.stringify({ path, edited: true })
}

/** Runs `work` on a project in a temporary folder, which is gone afterwards. */
export async function withProject<T>(
  files: Files,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await writeProject(files)
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
