import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { endSession, openSession, removeSession, type Session } from '../../chaos/session.ts'
import { embedAll } from './embeddings.ts'
import { type Measured, measure, median, type Setting, type Work } from './measure.ts'
import { repairAll } from './runs.ts'
import { fillMemory, searchAll } from './searches.ts'

/**
 * What more processes bring on this machine: embeddings and searches a second at 1, 2 and 4 embedders,
 * and repairs a minute at 1 and 2 agent-runners and test-runners, with what was limited meanwhile: the
 * cores that each service kept busy, and the jobs that waited.
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
const runners: Setting[] = [
  { label: '1 agent-runner, 1 test-runner', processes: { 'agent-runner': 1, 'test-runner': 1 } },
  { label: '2 agent-runners, 1 test-runner', processes: { 'agent-runner': 2, 'test-runner': 1 } },
  { label: '1 agent-runner, 2 test-runners', processes: { 'agent-runner': 1, 'test-runner': 2 } },
  { label: '2 agent-runners, 2 test-runners', processes: { 'agent-runner': 2, 'test-runner': 2 } },
]

async function inSession(work: (session: Session) => Promise<void>): Promise<void> {
  const session = await openSession('scale', {}, AbortSignal.timeout(LIMIT_MS))
  try {
    await work(session)
  } finally {
    await endSession(session)
    await removeSession(session)
  }
}

function print(title: string, queue: string, measured: readonly Measured[], unit: Unit): void {
  const rows = measured.map(({ label, rates, cores, load }) => {
    const rate = median(rates)
    const busy = cores.services.filter((each) => each.cores >= 0.05)
    const shown = (value: number) => (value * unit.seconds).toFixed(1)
    return [
      label,
      `${shown(rate)} ${unit.name}`,
      `${(rate / median(measured[0]?.rates ?? [])).toFixed(2)}x`,
      `${shown(Math.min(...rates))} to ${shown(Math.max(...rates))}`,
      `${load.active.toFixed(1)} / ${load.waiting.toFixed(1)}`,
      `${cores.machine.toFixed(2)}: ${busy.map((each) => `${each.service} ${each.cores.toFixed(2)}`).join(', ')}`,
    ]
  })
  const head = [
    '',
    'median',
    'ratio',
    'spread',
    `${queue} in hand / waiting`,
    'cores busy in all, and by whom',
  ]
  const table = [head, ...rows]
  const width = (column: number) => Math.max(...table.map((row) => row[column]?.length ?? 0))
  const lines = table.map((row) =>
    row
      .map((cell, n) => cell.padEnd(width(n)))
      .join('  ')
      .trimEnd(),
  )
  process.stdout.write(`${title}\n${lines.join('\n')}\n\n`)
}

type Unit = { name: string; seconds: number }
const aSecond: Unit = { name: '/s', seconds: 1 }
const aMinute: Unit = { name: '/min', seconds: 60 }

const model = cpus()[0]?.model ?? 'unknown CPU'
process.stdout.write(`${availableParallelism()} cores (${model}), ${rounds} rounds\n\n`)
await inSession(async (session) => {
  const embeddings: Work = { queue: 'embeddings', run: (round) => embedAll(session, round) }
  await embeddings.run('warm')
  const embedded = await measure(session, embedders, rounds, embeddings)
  print('Embeddings alone (symptoms, 16 a job)', 'jobs', embedded, aSecond)

  await fillMemory(session)
  const searches: Work = { queue: 'embeddings', run: (round) => searchAll(session, round) }
  await searches.run('warm')
  const searched = await measure(session, embedders, rounds, searches)
  print('Searches (embedding, candidates, ranking; 100 fixes)', 'embeddings', searched, aSecond)
})
await inSession(async (session) => {
  const repairs: Work = { queue: 'tests', run: (round) => repairAll(session, round) }
  await repairs.run('warm')
  const repaired = await measure(session, runners, rounds, repairs)
  print('Repairs of small projects (stand-in model)', 'test jobs', repaired, aMinute)
})
