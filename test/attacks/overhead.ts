import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { killGroup } from '../../services/test-runner/run/process-tree.ts'
import { type CommandResult, runCommand } from '../../services/test-runner/run/run-command.ts'
import { chooseSandbox } from '../../services/test-runner/sandbox/choose-sandbox.ts'
import { isSystemPath } from '../../services/test-runner/toolchains/toolchain.ts'

const ROUNDS = 21
/** What a run may cost more in the sandbox. */
export const mostOverheadMs = 60

/** Other work on the machine only adds to it: then more series are made, and the quietest counts. */
const MOST_SERIES = 5

export type Overhead = { bareMs: number; sandboxedMs: number; rounds: number; series: number }

/** What the sandbox adds to a command that does nothing: medians of runs by turns. */
export async function measureOverhead(): Promise<Overhead> {
  const root = await mkdtemp(join(tmpdir(), 'astra-overhead-'))
  try {
    const runs = await commandsIn(root)
    let quietest = await measureSeries(runs)
    let series = 1
    for (; added(quietest) >= mostOverheadMs && series < MOST_SERIES; series += 1) {
      const next = await measureSeries(runs)
      if (added(next) < added(quietest)) quietest = next
    }
    return { ...quietest, rounds: ROUNDS, series }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

type Series = Pick<Overhead, 'bareMs' | 'sandboxedMs'>

export const added = ({ bareMs, sandboxedMs }: Series) => sandboxedMs - bareMs

async function measureSeries(runs: Awaited<ReturnType<typeof commandsIn>>): Promise<Series> {
  const bare: number[] = []
  const sandboxed: number[] = []
  // Warm before anything is measured.
  for (let round = -1; round < ROUNDS; round += 1) {
    const [bareMs, sandboxedMs] = [await timeOf(runs.bare), await timeOf(runs.sandboxed)]
    if (round < 0) continue
    bare.push(bareMs)
    sandboxed.push(sandboxedMs)
  }
  return { bareMs: median(bare), sandboxedMs: median(sandboxed) }
}

async function commandsIn(root: string) {
  const limits = {
    home: root,
    ASTRA_TEST_MEMORY_MB: 2048,
    ASTRA_TEST_DISK_MB: 512,
    ASTRA_TEST_PROCESSES: 512,
  }
  const sandbox = chooseSandbox(limits, [])
  const folder = { root, copy: join(root, 'w'), copyBytes: 0, reportFile: join(root, 'report') }
  await mkdir(folder.copy)
  await writeFile(folder.reportFile, '')
  const manifest = { workspace: '/home/ann/shop', files: [], links: [] }
  const layout = sandbox.layout({ root, manifest })
  const argv: [string, ...string[]] = [process.execPath, '-e', '0']
  const env = { PATH: dirname(process.execPath), HOME: layout.home }
  const places = isSystemPath(process.execPath) ? [] : [process.execPath]
  const mounts = places.map((place) => ({ source: place, target: place }))
  const ends = { timeoutMs: 20_000, maxOutputBytes: 10_000, signal: new AbortController().signal }
  return {
    bare: () => runCommand({ argv, cwd: root, env, ...ends, stop: killGroup }),
    sandboxed: () => sandbox.run({ folder, manifest, layout, argv, env, mounts, ...ends }),
  }
}

async function timeOf(run: () => Promise<CommandResult>): Promise<number> {
  const started = performance.now()
  const { end, exitCode, output } = await run()
  if (end !== 'exited' || exitCode !== 0) throw new Error(`node -e 0 ended as ${end}: ${output}`)
  return performance.now() - started
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
