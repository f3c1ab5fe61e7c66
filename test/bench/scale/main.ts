import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { endSession, openSession, removeSession, type Session } from '../../chaos/session.ts'
import { type Measured, measure, median, type Setting } from './measure.ts'
import { repairAll } from './runs.ts'
import { fillMemory, searchAll } from './searches.ts'

/**
 * What more processes bring on this machine: searches a second at 1, 2 and 4 embedders, and repairs a
 * minute at 1 and 2 agent-runners, with the cores that each service kept busy meanwhile.
 */
const LIMIT_MS = 20 * 60_000

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } })
const rounds = Number(values.rounds)
if (!(Number.isInteger(rounds) && rounds >= 1 && rounds <= 20)) {
  throw new TypeError(`--rounds must be a whole number from 1 to 20, not ${values.rounds}`)
}

const embedders: Setting[] = [1, 2, 4].map((n) => ({
  label: `${n} embedder${n === 1 ? '' : 's'}`,
  processes: { embedder: n, 'agent-runner': 1 },
}))
const agentRunners: Setting[] = [1, 2].map((n) => ({
  label: `${n} agent-runner${n === 1 ? '' : 's'}`,
  processes: { embedder: 1, 'agent-runner': n },
}))

async function inSession(work: (session: Session) => Promise<void>): Promise<void> {
  const session = await openSession('scale', {}, AbortSignal.timeout(LIMIT_MS))
  try {
    await work(session)
  } finally {
    await endSession(session)
    await removeSession(session)
  }
}

function print(title: string, measured: readonly Measured[], unit: string, factor: number): void {
  const rows = measured.map(({ label, rates, cores }) => {
    const rate = median(rates)
    const busy = cores.filter((each) => each.cores >= 0.05)
    return [
      label,
      `${(rate * factor).toFixed(1)} ${unit}`,
      `${(rate / median(measured[0]?.rates ?? [])).toFixed(2)}x`,
      `${(Math.min(...rates) * factor).toFixed(1)} to ${(Math.max(...rates) * factor).toFixed(1)}`,
      busy.map((each) => `${each.service} ${each.cores.toFixed(2)}`).join(', '),
    ]
  })
  const table = [['', 'median', 'ratio', 'spread', 'cores kept busy'], ...rows]
  const width = (column: number) => Math.max(...table.map((row) => row[column]?.length ?? 0))
  const lines = table.map((row) =>
    row
      .map((cell, n) => cell.padEnd(width(n)))
      .join('  ')
      .trimEnd(),
  )
  process.stdout.write(`${title}\n${lines.join('\n')}\n\n`)
}

const model = cpus()[0]?.model ?? 'unknown CPU'
process.stdout.write(`${availableParallelism()} cores (${model}), ${rounds} rounds\n\n`)
await inSession(async (session) => {
  await fillMemory(session)
  await searchAll(session, 'warm')
  const measured = await measure(session, embedders, rounds, (round) => searchAll(session, round))
  print('Searches (embedding, candidates, ranking; 100 fixes)', measured, '/s', 1)
})
await inSession(async (session) => {
  await repairAll(session, 'warm')
  const measured = await measure(session, agentRunners, rounds, (round) =>
    repairAll(session, round),
  )
  print('Repairs of small projects (stand-in model, 2 tests at once)', measured, '/min', 60)
})
