import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import {
  createJournalStore,
  type JournalStore,
} from '../../services/agent-runner/journal/journal-store.ts'
import { prepareRun } from '../../services/cli/fix-workspace.ts'
import { hasEnded, startRun } from '../../services/cli/follow-run.ts'
import { DEFAULT_PROMPT, orderOf } from '../../services/cli/run-options.ts'
import { readRunView } from '../../shared/contracts/run-view.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer, type Producer } from '../../shared/queue/producer.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import type { Injected } from './faults.ts'
import { processesOf, signalOwn } from './processes.ts'
import { type Project, writeProject } from './projects.ts'

/** Longer than any fault, so that a command of ours outlives it. */
const REDIS_WAIT_MS = 60_000
const POLL_MS = 100

const queues = ['runs', 'tool-results', 'tests', 'memory', 'embeddings'] as const
const openStates = ['active', 'waiting', 'prioritized', 'delayed', 'waiting-children'] as const

/** One installation under fault: what was asked of it, and what was done to it. */
export type Session = {
  name: string
  astra: Astra
  lease: Lease
  redis: Redis
  producer: Producer
  journals: JournalStore
  /** Holds the workspaces and the temporary folder of everything that runs. */
  folder: string
  runs: Map<string, Project>
  /** By run; several runs may have the same. */
  workspaces: Map<string, string>
  ended: Set<string>
  injected: Injected[]
  /** Each resolves when a killed process is back. */
  recoveries: Promise<void>[]
  signal: AbortSignal
}

/** Starts an installation of its own with `env`, and holds it. */
export async function openSession(
  name: string,
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<Session> {
  const folder = await mkdtemp(join(tmpdir(), 'astra-chaos-'))
  const temporary = join(folder, 'tmp')
  await mkdir(temporary)
  const astra = await createAstra({ ASTRA_LOG_LEVEL: 'info', TMPDIR: temporary, ...env })
  const lease = await astra.hold()
  const redis = connectOrFail(astra.config.redis, { waitMs: REDIS_WAIT_MS })
  redis.on('error', () => {})
  return {
    name,
    astra,
    lease,
    redis,
    producer: createProducer(redis),
    journals: createJournalStore(redis),
    folder,
    runs: new Map(),
    workspaces: new Map(),
    ended: new Set(),
    injected: [],
    recoveries: [],
    signal,
  }
}

/** Gives the lease up, as the last client does: everything ends by itself. */
export async function closeSession(session: Session): Promise<void> {
  await session.producer.close()
  session.redis.disconnect()
  await session.lease.release()
}

/** Ends whatever is left of it, also after a failure of ours. Repeating it is harmless. */
export async function endSession(session: Session): Promise<void> {
  session.redis.disconnect()
  await session.lease.release().catch(() => {})
  for (const { pid } of processesOf([session.astra.home, session.folder])) {
    signalOwn(session.astra, pid, 'SIGKILL')
  }
}

export async function removeSession({ astra, folder }: Session): Promise<void> {
  await astra.remove()
  await rm(folder, { recursive: true, force: true })
}

/** Asks for a repair as `astra enqueue` does; a Redis that is away or full is asked again. */
export async function enqueue(session: Session, runId: string, project: Project): Promise<void> {
  const workspace = join(session.folder, 'workspaces', runId, project.name)
  await writeProject(workspace, project)
  await askFor(session, { runId, project, workspace })
}

/** The same repair in the workspace of an earlier run, which is as it was: nobody applies a patch. */
export async function enqueueAgain(
  session: Session,
  runId: string,
  earlier: string,
): Promise<void> {
  const [project, workspace] = [session.runs.get(earlier), session.workspaces.get(earlier)]
  if (!project || !workspace) throw new Error(`there was no run ${earlier}`)
  await askFor(session, { runId, project, workspace })
}

async function askFor(
  session: Session,
  { runId, project, workspace }: { runId: string; project: Project; workspace: string },
): Promise<void> {
  const { astra, producer, signal } = session
  const options = { prompt: DEFAULT_PROMPT, runId, offline: true, recall: 'tool' } as const
  const order = orderOf(workspace, { ...options, priority: 'normal' }, astra.config)
  const { request } = await prepareRun(astra.config, astra.env, order)
  session.runs.set(runId, project)
  session.workspaces.set(runId, workspace)
  await persist(signal, () => startRun(producer, request))
}

/** Runs that have been asked for and have not ended. */
export async function inFlight(session: Session): Promise<string[]> {
  const going = [...session.runs.keys()].filter((id) => !session.ended.has(id))
  for (const id of going) {
    const view = await persist(session.signal, () => readRunView(session.redis, id))
    if (view && hasEnded(view)) session.ended.add(id)
  }
  return going.filter((id) => !session.ended.has(id))
}

/**
 * Waits until all runs have ended and nothing is left to do for them, also what follows an end:
 * ledger, transcript, queues. Returns what still was there when the time was over.
 */
export async function untilQuiet(session: Session, seconds: number): Promise<string[]> {
  const deadline = Date.now() + seconds * 1000
  for (;;) {
    const left = await unfinishedWork(session)
    if (left.length === 0 || Date.now() > deadline) return left
    await delay(POLL_MS, undefined, { signal: session.signal })
  }
}

async function unfinishedWork(session: Session): Promise<string[]> {
  const { signal, producer, journals } = session
  const running = await inFlight(session)
  if (running.length > 0) return running.map((id) => `run ${id}`)
  return persist(signal, async () => {
    const unfinished = (await journals.unfinished()).map((id) => `run ${id} is not retired`)
    const jobs = await Promise.all(
      queues.map(async (name) => {
        const found = await producer.queue(name).getJobs([...openStates])
        // The sweep repeats for ever; its next job is always there.
        const work = found.filter((job) => job && job.name !== 'sweep')
        return work.map((job) => `job ${name}/${job.name} ${job.id}`)
      }),
    )
    return [...unfinished, ...jobs.flat()]
  })
}

/** Tries until it succeeds: for commands that a fault of ours may hit. */
export async function persist<T>(signal: AbortSignal, action: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await action()
    } catch (error) {
      if (signal.aborted) throw error
      await delay(POLL_MS, undefined, { signal })
    }
  }
}
