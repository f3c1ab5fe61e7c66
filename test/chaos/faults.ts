import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Job } from 'bullmq'
import { productRoot } from '../../shared/config.ts'
import type { QueueName } from '../../shared/contracts/catalog.ts'
import type { Producer } from '../../shared/queue/producer.ts'
import { supervisorStatus } from '../../shared/supervisor-client.ts'
import { signalOwn, variableOf } from './processes.ts'
import type { Random } from './random.ts'
import { inFlight, persist, type Session } from './session.ts'

export const victims = [
  'agent-runner',
  'test-runner',
  'memory-store',
  'embedder',
  'offline-model',
  'redis',
  'supervisor',
] as const
export type Victim = (typeof victims)[number]

export type Fault = {
  /** `kill`: SIGKILL. `freeze`: SIGSTOP, later SIGCONT. `fill`: Redis refuses writes for a while. */
  kind: 'kill' | 'freeze' | 'fill'
  victim: Victim
  /** How long it lasts; a kill is over at once. */
  ms: number
}
export type PlannedFault = Fault & { afterMs: number }

/**
 * A fault that happened, and when it was over: a killed process is back then. Epoch milliseconds.
 * `runs`: those whose work it hit.
 */
export type Injected = { name: string; victim: Victim; at: number; until: number; runs: string[] }

/** A worker's lock lasts 10 s: a process that stands still for longer loses its jobs to another. */
const LONGER_THAN_A_LOCK_MS = 16_000
/** How long both agent-runners go on side by side after the frozen one continues. */
const SIDE_BY_SIDE_MS = 3_000
const FIND_MS = 1_000
const POLL_MS = 100

const kinds: readonly (readonly [Omit<Fault, 'ms'>, number])[] = [
  [{ kind: 'kill', victim: 'agent-runner' }, 6],
  [{ kind: 'kill', victim: 'test-runner' }, 4],
  [{ kind: 'kill', victim: 'memory-store' }, 3],
  [{ kind: 'kill', victim: 'embedder' }, 2],
  [{ kind: 'kill', victim: 'offline-model' }, 3],
  [{ kind: 'kill', victim: 'redis' }, 3],
  [{ kind: 'kill', victim: 'supervisor' }, 2],
  [{ kind: 'freeze', victim: 'redis' }, 1],
  [{ kind: 'fill', victim: 'redis' }, 2],
  [{ kind: 'freeze', victim: 'agent-runner' }, 1],
]

/** The next thing that happens, and after which pause: long enough for the runs to get on. */
export function nextFault(random: Random): PlannedFault {
  const fault = random.weighted(kinds)
  return { ...fault, ms: durationOf(fault, random), afterMs: random.between(300, 1700) }
}

function durationOf({ kind, victim }: Omit<Fault, 'ms'>, random: Random): number {
  if (kind === 'kill') return 0
  if (kind === 'fill') return random.between(500, 2500)
  return victim === 'redis' ? random.between(1500, 5000) : LONGER_THAN_A_LOCK_MS
}

/** Does it and returns when it is over; after a kill, others may follow before the process is back. */
export async function inject(session: Session, fault: Fault): Promise<void> {
  const { kind, victim } = fault
  const pid = await pidOf(session, victim)
  const runs = await runsHitBy(session, victim)
  const injected = { name: `${kind} ${victim}`, victim, at: Date.now(), until: Date.now(), runs }
  session.injected.push(injected)
  const over = () => {
    injected.until = Date.now()
  }
  if (kind === 'kill') {
    signalOwn(session.astra, pid, 'SIGKILL')
    session.recoveries.push(untilReplaced(session, victim, pid).then(over))
    return
  }
  if (kind === 'fill') await fillRedis(session, fault.ms)
  else if (victim === 'agent-runner') await freezeAgent(session, pid, fault.ms)
  else await freeze(session, pid, fault.ms)
  over()
}

/** Resolves when another process does the work of the one that was killed. */
async function untilReplaced(session: Session, victim: Victim, pid: number): Promise<void> {
  while ((await pidOf(session, victim)) === pid) {
    await delay(POLL_MS, undefined, { signal: session.signal })
  }
  // A new supervisor has its services to start yet.
  if (victim === 'supervisor') await pidOf(session, 'agent-runner')
}

/** The pid of a process that works; waits for one that is just being started again. */
export async function pidOf(session: Session, victim: Victim): Promise<number> {
  return persist(session.signal, async () => {
    const status = await supervisorStatus(session.astra.config)
    const child = status?.processes.find((each) => each.name === victim && each.ready)
    const pid = victim === 'supervisor' ? status?.pid : child?.pid
    if (!pid) throw new Error(`${victim} does not run`)
    return pid
  })
}

export async function freeze(session: Session, pid: number, ms: number): Promise<void> {
  signalOwn(session.astra, pid, 'SIGSTOP')
  await delay(ms)
  signalOwn(session.astra, pid, 'SIGCONT')
}

/** Another agent-runner takes the frozen one's jobs over; then both go on with the same runs. */
async function freezeAgent(session: Session, pid: number, ms: number): Promise<void> {
  const url = variableOf(pid, 'OFFLINE_MODEL_URL') ?? ''
  signalOwn(session.astra, pid, 'SIGSTOP')
  const other = await startAgent(session, url)
  await delay(ms)
  signalOwn(session.astra, pid, 'SIGCONT')
  await delay(SIDE_BY_SIDE_MS)
  const ended = once(other, 'exit')
  other.kill('SIGTERM')
  await ended
}

/** An agent-runner beside that of the supervisor, as a fleet has them; ready when this resolves. */
export async function startAgent(
  session: Pick<Session, 'astra'>,
  offlineModelUrl: string,
): Promise<ChildProcess> {
  const child = fork(join(productRoot, 'services/agent-runner/main.ts'), {
    execArgv: [],
    env: { ...session.astra.env, OFFLINE_MODEL_URL: offlineModelUrl },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const ended = once(child, 'exit')
  await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`the agent-runner ended with ${code}`))),
  ])
  return child
}

/** Redis answers reads and refuses writes, as when its memory is full. */
export async function fillRedis({ redis, signal }: Session, ms: number): Promise<void> {
  await persist(signal, () => redis.config('SET', 'maxmemory', '1'))
  await delay(ms)
  await persist(signal, () => redis.config('SET', 'maxmemory', '0'))
}

/** Queues whose active jobs die with the process. */
const queuesOf: Partial<Record<Victim, readonly QueueName[]>> = {
  'agent-runner': ['runs', 'tool-results'],
  'offline-model': ['runs'],
  'test-runner': ['tests'],
  'memory-store': ['memory'],
  embedder: ['embeddings'],
}

/** The runs that a process works for at this moment; all of them for Redis and the supervisor. */
async function runsHitBy(session: Session, victim: Victim): Promise<string[]> {
  const queues = queuesOf[victim]
  if (!queues) return inFlight(session)
  const finding = Promise.all(queues.map((queue) => activeRuns(session, queue)))
  const found = await Promise.race([finding.catch(() => []), delay(FIND_MS, [])])
  return [...new Set(found.flat())]
}

async function activeRuns({ producer }: Session, queue: QueueName): Promise<string[]> {
  const jobs = await producer.queue(queue).getActive()
  const runs = await Promise.all(jobs.map((job) => runOf(producer, job)))
  return runs.filter((id) => id !== null)
}

/** Searches and embeddings do not know their run; the `deliver` job above them does. */
async function runOf(producer: Producer, job: Job): Promise<string | null> {
  if (job.data.run_id) return job.data.run_id
  const queue = job.parent?.queueKey.split(':').at(-1)
  if (!job.parent?.id || !queue) return null
  const parent = await producer.queue(queue as QueueName).getJob(job.parent.id)
  return parent ? runOf(producer, parent) : null
}
