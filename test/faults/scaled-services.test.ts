import { describe, expect, it, onTestFinished } from 'vitest'
import { sha256 } from '../../shared/contracts/ids.ts'
import { patchHash } from '../../shared/contracts/patch.ts'
import type { Scale } from '../../shared/contracts/supervisor.ts'
import { ask } from '../../shared/queue/ask.ts'
import { flowJob } from '../../shared/queue/producer.ts'
import { holdSupervisor, type Lease, supervisorStatus } from '../../shared/supervisor-client.ts'
import { checkInstallation } from '../chaos/invariants.ts'
import { observe } from '../chaos/observe.ts'
import { signalOwn } from '../chaos/processes.ts'
import { type Project, projects } from '../chaos/projects.ts'
import {
  endSession,
  enqueue,
  openSession,
  removeSession,
  type Session,
  untilQuiet,
} from '../chaos/session.ts'

const LIMIT_MS = 300_000
const TEXTS = 300
const RUNS = 5

describe('workers that join and leave', () => {
  it(
    'lose no job of a queue and no result of a run, whether they are told to stop or killed',
    async () => {
      const session = await openSession('scaled', {}, AbortSignal.timeout(LIMIT_MS))
      onTestFinished(async () => {
        await endSession(session)
        await removeSession(session)
      })
      const project = projectNamed('grown-up')
      for (let n = 1; n <= RUNS; n += 1) await enqueue(session, `scaled-${n}`, project)
      const vectors = Promise.all(Array.from({ length: TEXTS }, (_, n) => vectorOf(session, n)))

      await scale(session, { embedder: 3, 'agent-runner': 2, 'test-runner': 2 })
      expect(await namesOf(session)).toEqual([
        ...['agent-runner', 'agent-runner-2', 'embedder', 'embedder-2', 'embedder-3'],
        ...['memory-store', 'offline-model', 'redis', 'test-runner', 'test-runner-2'],
      ])
      await kill(session, 'embedder-2')
      await scale(session, { embedder: 1, 'agent-runner': 1, 'test-runner': 1 })
      expect(await namesOf(session)).toEqual([
        ...['agent-runner', 'embedder', 'memory-store', 'offline-model', 'redis', 'test-runner'],
      ])
      await scale(session, { embedder: 2, 'agent-runner': 2 })

      // Each text has its own vector, and the same one whoever embedded it.
      expect(new Set(await vectors).size).toBe(TEXTS)
      expect(await vectorOf(session, TEXTS, 7)).toBe((await vectors)[7])
      const seen = await observe(session, [], await untilQuiet(session, LIMIT_MS / 1000))
      expect(seen.runs).toHaveLength(RUNS)
      expect(checkInstallation(seen, new Map([[project.name, referenceOf(project)]]))).toEqual([])
    },
    LIMIT_MS,
  )
})

/** What a run of that project comes to while nothing happens to it. */
function referenceOf({ files }: Project) {
  const source = files['index.js'] ?? ''
  const mended = { path: 'index.js', before: sha256(source), after: source.replace('>', '>=') }
  return { patch_hash: patchHash({ files: [mended] }), requests: 6 }
}

function projectNamed(name: string): Project {
  const found = projects.find((project) => project.name === name)
  if (!found) throw new Error(`there is no project ${name}`)
  return found
}

/** The vector of the `text`th text; each job needs an id of its own. */
async function vectorOf({ producer }: Session, job: number, text = job): Promise<string> {
  const payload = { texts: [`failure number ${text} of a service that was scaled`] }
  const flow = flowJob('embeddings', 'embed', payload, `scaled-text-${job}`)
  const asked = { ...flow, queueName: 'embeddings' as const, name: 'embed' as const }
  const { vectors } = await ask(producer, asked, { timeoutMs: LIMIT_MS })
  return vectors[0] ?? ''
}

/** As `astra up --embedders N` beside running services does it: its end changes nothing. */
async function scale({ astra }: Session, processes: Scale): Promise<void> {
  const lease: Lease = await holdSupervisor(astra.config, { env: astra.env, processes })
  await lease.release()
}

async function processesOf({ astra }: Session) {
  return (await supervisorStatus(astra.config))?.processes ?? []
}

const namesOf = async (session: Session) =>
  (await processesOf(session)).map(({ name }) => name).sort()

async function kill(session: Session, name: string): Promise<void> {
  const pid = (await processesOf(session)).find((each) => each.name === name)?.pid
  if (!pid) throw new Error(`${name} does not run`)
  signalOwn(session.astra, pid, 'SIGKILL')
}
