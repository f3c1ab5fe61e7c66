import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openMemoryCgroup } from '../../services/test-runner/sandbox/memory-cgroup.ts'
import { hasGo, hasPytest, hasPython, isInstalled, makeRun } from '../support/test-runner.ts'
import type { Attack, Evidence, Need } from './attack.ts'
import { limits, readTries } from './attack.ts'
import { endProcessesOf } from './host.ts'
import type { Scene } from './scene.ts'

/** `reached` is empty when the attack was stopped. */
export type Outcome = { name: string; reached: string[]; ms: number }

const fixtures = join(import.meta.dirname, 'fixtures')

const present: Record<Need, boolean> = {
  python: hasPython,
  pytest: hasPytest,
  go: hasGo,
  perl: isInstalled('perl', '-v'),
  'control groups': await canLimitMemory(),
}

/** What an attack needs and this machine lacks, or null. */
export function missing({ needs = [] }: Attack): Need | null {
  return needs.find((need) => !present[need]) ?? null
}

/** An ordinary user's sandboxes have none. */
async function canLimitMemory(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  const group = await openMemoryCgroup(tmpdir(), limits.memoryMb * 1_000_000)
  await group?.remove()
  return group !== null
}

/** Runs an attack through the test-runner's own code and says what it reached. */
export async function attempt(
  attack: Attack,
  scene: Scene,
  options: { unsandboxed?: boolean } = {},
): Promise<Outcome> {
  const mark = `astra-attack-${randomBytes(6).toString('hex')}`
  const tested = await makeRun(await workspaceOf(attack, scene, mark), {
    ...limits,
    ...attack.limits,
    ...options,
    workspace: scene.known.workspace,
    links: [{ path: 'node_modules', target: modulesOf(attack, scene) }],
  })
  const ended = new AbortController()
  const watched = attack.watch?.(scene, mark, ended.signal)
  try {
    const started = performance.now()
    const edits = attack.patch && (await patchOf(attack.patch))
    const result = edits ? await tested.verify(null, edits) : await tested.baseline()
    const ms = Math.round(performance.now() - started)
    ended.abort()
    const output = 'output' in result ? result.output : ''
    const tried = readTries(output)
    const evidence: Evidence = { scene, mark, base: tested.files.base, result, output, tried, ms }
    const reached = [...(await attack.reached(evidence)), ...((await watched) ?? [])]
    return { name: attack.name, reached, ms }
  } finally {
    ended.abort()
    await endProcessesOf(mark)
    await tested.remove()
  }
}

function modulesOf({ project }: Attack, { known }: Scene): string {
  return project.startsWith('vitest') ? known.modules : join(known.workspace, 'node_modules')
}

async function workspaceOf({ project }: Attack, { known }: Scene, mark: string) {
  const root = join(fixtures, project)
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const texts = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(root.length + 1), await readFile(path, 'utf8')] as const
    })
  return {
    ...Object.fromEntries(await Promise.all(texts)),
    'tried.mjs': await readFile(join(fixtures, 'tried.mjs'), 'utf8'),
    'tried.py': await readFile(join(fixtures, 'tried.py'), 'utf8'),
    'scene.json': JSON.stringify({ ...known, mark }),
  }
}

async function patchOf(patch: Readonly<Record<string, string>>) {
  const texts = Object.entries(patch).map(
    async ([path, file]) =>
      [path, await readFile(join(fixtures, 'patches', file), 'utf8')] as const,
  )
  return Object.fromEntries(await Promise.all(texts))
}
