import { setTimeout as delay } from 'node:timers/promises'
import { type CrashPoint, crashPoints } from '../../shared/crash-point.ts'
import { errorText } from '../../shared/errors.ts'
import { inject, nextFault } from './faults.ts'
import { checkInstallation, type Finding } from './invariants.ts'
import { observe } from './observe.ts'
import type { Observed, Reference } from './observed.ts'
import { type Project, projects } from './projects.ts'
import { createRandom, type Random } from './random.ts'
import { neededRequests } from './requests.ts'
import {
  endSession,
  enqueue,
  enqueueAgain,
  inFlight,
  openSession,
  removeSession,
  type Session,
  untilQuiet,
} from './session.ts'

export type ChaosOptions = {
  seed: number
  /** Runs under random faults, and how many faults at most. */
  runs: number
  faults: number
  /** Crash points that are armed together in one installation, and its runs. */
  crashGroups: CrashPoint[][]
  runsPerGroup: number
  /** Installations at once. */
  lanes: number
  signal: AbortSignal
  log: (line: string) => void
}

export type ChaosResult = { observed: Observed[]; findings: Finding[]; seconds: number }

/** Enough to be hit in every state, and few enough to meet many faults before all have ended. */
const MAX_IN_FLIGHT = 8
/** What may follow the last end: a stalled job is taken over within 15 s. */
const QUIET_SECONDS = 60
const LAST_LOOK_MS = 60_000
const POLL_MS = 100

/** Runs everything that the options ask for. What goes wrong is a finding; only a bad start throws. */
export async function chaos(options: ChaosOptions): Promise<ChaosResult> {
  const started = performance.now()
  // Faults have a generator of their own: the same seed brings the same, whatever the runs are.
  const random = createRandom(options.seed + 1)
  const references = await findReferences(options)
  const observed: Observed[] = []
  const findings: Finding[] = []
  const judge: Judge = async (session, armed, faults) => {
    const problems: Finding[] = await faults.then(
      () => [],
      (error: unknown) => [finding(session, `the harness: ${errorText(error)}`)],
    )
    // Also after the deadline there is something to be read, and everything has to be ended.
    if (options.signal.aborted) session.signal = AbortSignal.timeout(LAST_LOOK_MS)
    try {
      const seconds = options.signal.aborted ? 0 : QUIET_SECONDS
      const seen = await observe(session, armed, await untilQuiet(session, seconds))
      observed.push(seen)
      problems.push(...checkInstallation(seen, references))
    } catch (error) {
      problems.push(finding(session, `it could not be read: ${errorText(error)}`))
    }
    findings.push(...problems)
    await endSession(session)
    if (problems.length === 0) return removeSession(session)
    options.log(`kept to be looked at: ${session.astra.home} and ${session.folder}`)
  }
  const tasks = [
    randomFaults(options, random, judge),
    ...options.crashGroups.map((points) => crashes(options, points, random, judge)),
  ]
  await inLanes(options.lanes, tasks)
  return { observed, findings, seconds: (performance.now() - started) / 1000 }
}

/** Waits for the faults, reads the installation, ends it, and keeps it only when it has to be looked at. */
type Judge = (session: Session, armed: readonly string[], faults: Promise<void>) => Promise<void>

const finding = ({ name }: Session, message: string): Finding => ({
  kind: 'wrong end',
  where: name,
  message,
})

/** What each project comes to while nothing is killed. Throws when even that does not go well. */
async function findReferences(options: ChaosOptions): Promise<Map<string, Reference>> {
  const session = await openSession('reference', {}, options.signal)
  try {
    for (const project of projects) await enqueue(session, `reference-${project.name}`, project)
    const seen = await observe(session, [], await untilQuiet(session, QUIET_SECONDS))
    const references = new Map(
      seen.runs.map(({ project, view, journal }) => [
        project,
        { patch_hash: view?.patch_hash ?? '', requests: neededRequests(journal) },
      ]),
    )
    const [problem] = checkInstallation(seen, references)
    if (problem) throw new Error(`without any fault: ${problem.where}: ${problem.message}`)
    return references
  } finally {
    await endSession(session)
    await removeSession(session)
  }
}

/** Much of the time is waiting for locks to expire, so some installations go side by side. */
async function inLanes(lanes: number, tasks: (() => Promise<void>)[]): Promise<void> {
  const left = [...tasks]
  const lane = async () => {
    for (let task = left.shift(); task; task = left.shift()) await task()
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** An installation in which a process dies at each of the points, once. */
function crashes(
  options: ChaosOptions,
  points: CrashPoint[],
  random: Random,
  judge: Judge,
): () => Promise<void> {
  const chosen = Array.from({ length: options.runsPerGroup }, () => random.pick(projects))
  const name = points.join('+')
  const background = points.includes('agent.background-journalled')
  const env = {
    ASTRA_CRASH_AT: points.join(','),
    ...(background ? { ASTRA_BACKGROUND: '1' } : {}),
  }
  return async () => {
    options.log(`crash at ${name}`)
    const session = await openSession(name, env, options.signal)
    const asking = async () => {
      for (const [index, project] of chosen.entries()) {
        await enqueue(session, `crash-${points[0]}-${index + 1}`, project)
      }
      await untilEnded(session)
      // Once more where it was, so that something is recalled, merged and counted.
      await enqueueAgain(session, `crash-${points[0]}-again`, `crash-${points[0]}-1`)
      await untilEnded(session)
    }
    await judge(session, points, asking())
  }
}

/** Many runs in one installation, while processes are killed and Redis is hung or full. */
function randomFaults(options: ChaosOptions, random: Random, judge: Judge): () => Promise<void> {
  const chosen = Array.from({ length: options.runs }, () => random.pick(projects))
  return async () => {
    const session = await openSession('random faults', {}, options.signal)
    const disturbing = async () => {
      const over = new AbortController()
      await Promise.all([
        askForAll(options, session, chosen).finally(() => over.abort()),
        disturb(options, session, over.signal),
      ])
      await Promise.all(session.recoveries)
    }
    await judge(session, [], disturbing())
  }
}

/** Asks for one run after the other, as faults go on: so that there are runs until the last fault. */
async function askForAll(
  { runs, faults }: ChaosOptions,
  session: Session,
  chosen: readonly Project[],
): Promise<void> {
  const ahead = Math.min(MAX_IN_FLIGHT, Math.ceil(runs / 2))
  for (const [index, project] of chosen.entries()) {
    for (;;) {
      const going = (await inFlight(session)).length
      const isDue = index < ahead + (session.injected.length * runs) / faults
      if (going === 0 || (isDue && going < MAX_IN_FLIGHT)) break
      await pause(session)
    }
    await enqueue(session, `chaos-${index + 1}`, project)
  }
  await untilEnded(session)
}

/** One fault after the other until the runs are over, or there were as many as there may be. */
async function disturb(
  { log, faults, runs, seed }: ChaosOptions,
  session: Session,
  over: AbortSignal,
): Promise<void> {
  const random = createRandom(seed)
  for (let count = 0; count < faults; count += 1) {
    const fault = nextFault(random)
    await delay(fault.afterMs, undefined, { signal: over }).catch(() => {})
    while (!over.aborted && (await inFlight(session)).length === 0) await pause(session)
    if (over.aborted) return
    log(`${fault.kind} ${fault.victim}; ${session.ended.size} of ${runs} runs have ended`)
    await inject(session, fault)
  }
}

/** Without a limit of its own: a run that does not end is found by the deadline of it all. */
async function untilEnded(session: Session): Promise<void> {
  while ((await inFlight(session)).length > 0) await pause(session)
}

const pause = ({ signal }: Session) => delay(POLL_MS, undefined, { signal })

/** The crash points in so many groups, in turn: neighbours are hit in different installations. */
export function crashGroups(count: number): CrashPoint[][] {
  return Array.from({ length: count }, (_, group) =>
    crashPoints.filter((_, index) => index % count === group),
  )
}
