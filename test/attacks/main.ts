import { cpus, release, totalmem } from 'node:os'
import { errorText } from '../../shared/errors.ts'
import { attacks } from './all.ts'
import type { Attack } from './attack.ts'
import { attempt, missing, type Outcome } from './attempt.ts'
import { added, measureOverhead, mostOverheadMs } from './overhead.ts'
import { openScene, type Scene } from './scene.ts'
import { attemptWithin } from './surroundings.ts'

/**
 * Runs every attack through the real test-runner and prints what stopped it, then what the sandbox
 * costs. Ends with exit code 0 only when none succeeded that could be told from a repair.
 */
type Row = { attack: Attack; outcome: Outcome | null }

process.stdout.write('attack | what stopped it | seen in ms\n')
const scene = await openScene()
const rows: Row[] = []
try {
  for (const attack of attacks) {
    const outcome = missing(attack) ? null : await outcomeOf(attack, scene)
    rows.push({ attack, outcome })
    process.stdout.write(`${lineOf({ attack, outcome })}\n`)
  }
} finally {
  await scene.close()
}
const succeeded = rows.filter(({ outcome }) => outcome && outcome.reached.length > 0)
const overhead = await measureOverhead()
const { bareMs, sandboxedMs, rounds, series } = overhead
const overheadMs = added(overhead)
process.stdout.write(`
${countsOf(rows)}
Overhead of the sandbox: ${overheadMs.toFixed(0)} ms (node -e 0: ${bareMs.toFixed(0)} ms bare, ${sandboxedMs.toFixed(0)} ms in it; medians of ${rounds} runs by turns, the quietest of ${series} series; at most ${mostOverheadMs} ms)
Machine: ${machine()}
`)
process.exit(succeeded.length === 0 && overheadMs < mostOverheadMs ? 0 : 1)

/** A fault proves nothing, so it counts as a success of the attack. */
async function outcomeOf(attack: Attack, at: Scene): Promise<Outcome> {
  const { name, within } = attack
  try {
    return within ? await attemptWithin(attack, within) : await attempt(attack, at)
  } catch (error) {
    return { name, reached: [`could not be tried: ${errorText(error)}`], ms: 0 }
  }
}

function lineOf({ attack, outcome }: Row): string {
  const { name, stoppedBy, notExcludable } = attack
  if (!outcome) return `${name} | not tried: no ${missing(attack)} here | -`
  if (outcome.reached.length > 0) {
    return `${name} | NOT STOPPED: ${outcome.reached.join('; ')} | ${outcome.ms}`
  }
  return `${name} | ${notExcludable ? `not excludable: ${notExcludable}` : stoppedBy} | ${outcome.ms}`
}

function countsOf(all: readonly Row[]): string {
  const tried = all.filter(({ outcome }) => outcome)
  const aimed = tried.filter(({ attack }) => attack.notExcludable).length
  const untried = all.length - tried.length
  const stopped = tried.length - aimed - succeeded.filter((row) => !row.attack.notExcludable).length
  return `${all.length} attacks: ${stopped} stopped, ${succeeded.length} not stopped, ${aimed} not excludable, ${untried} not tried`
}

function machine(): string {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${process.platform} ${release()}, ${cpus().length} x ${cpu?.model ?? 'unknown'}, ${memory} GB, Node ${process.version}, uid ${process.getuid?.()}`
}
