import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  type EvidenceLine,
  evidenceLineSchema,
  ledgerKeys,
  readProjectAmounts,
  readRunCosts,
} from '../../shared/contracts/ledger.ts'
import { readRunView } from '../../shared/contracts/run-view.ts'
import { crashPoints } from '../../shared/crash-point.ts'
import { loadPatch, runFiles } from '../../shared/run-files.ts'
import { readManifest } from '../../shared/workspace.ts'
import type { Victim } from './faults.ts'
import type { Observed, ObservedRun } from './observed.ts'
import { processesOf } from './processes.ts'
import { closeSession, persist, type Session } from './session.ts'

/** How long processes may take to go after the last lease; their own limit is 12 s. */
const GONE_MS = 15_000
/** The kernel dates files by its last tick: a file can look older than what was done before it. */
const FILE_TIME_MS = 10

type KeptInRedis = Pick<ObservedRun, 'run_id' | 'project' | 'journal' | 'view' | 'costs'>

/** Reads all that the installation knows, ends it, and reads what it left behind. */
export async function observe(
  session: Session,
  armed: readonly string[],
  unfinished: string[],
): Promise<Observed> {
  const { astra, folder, name, signal } = session
  const keys = ledgerKeys('notional')
  const [runs, totals, openAttempts, outbox] = await persist(signal, () =>
    Promise.all([
      Promise.all([...session.runs].map(([id, { name }]) => readFromRedis(session, id, name))),
      readProjectAmounts(session.redis, 'notional'),
      session.redis.zrange(keys.open, '0', '-1'),
      session.redis.hvals(keys.outbox),
    ]),
  )
  const crashed = await readCrashes(session)
  await closeSession(session)
  const orphans = await processesLeft([astra.home, folder])
  const records = readRecords(join(astra.home, 'memory', 'memory.db'))
  const answers = await readAnswers(join(astra.home, 'offline-model'))
  return {
    name,
    runs: await Promise.all(runs.map((run) => readFromDisk(session, run, records, answers))),
    injected: [...session.injected, ...crashed],
    notReached: armed.filter((point) => !crashed.some((each) => each.name === point)),
    totals,
    openAttempts,
    evidence: await readEvidence(join(astra.home, 'ledger'), outbox),
    unfinished,
    orphans,
    leftovers: await readdir(join(folder, 'tmp')),
    halfWritten: await halfWrittenFiles(astra.home),
  }
}

async function readFromRedis(
  { redis, journals }: Session,
  run_id: string,
  project: string,
): Promise<KeptInRedis> {
  const [journal, view, costs] = await Promise.all([
    journals.load(run_id),
    readRunView(redis, run_id),
    readRunCosts(redis, 'notional', run_id),
  ])
  return { run_id, project, journal, view, costs }
}

/** Every line once: one that was written twice, or written and still in the outbox, is the same. */
async function readEvidence(folder: string, outbox: string[]): Promise<EvidenceLine[]> {
  // An installation that never asked the model has no such folder.
  const names = existsSync(folder) ? await readdir(folder) : []
  const files = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  const texts = [...files.flatMap((text) => text.split('\n')), ...outbox].filter(Boolean)
  const lines = texts.map((text) => evidenceLineSchema.parse(JSON.parse(text)))
  return [...new Map(lines.map((line) => [line.seq, line])).values()]
}

type StoredRecord = { memory_id: string; session_id: string }

async function readFromDisk(
  session: Session,
  run: KeptInRedis,
  records: StoredRecord[],
  answers: Map<string, string | null>,
): Promise<ObservedRun> {
  const files = runFiles(session.astra.home, run.run_id)
  const hash = run.view?.patch_hash
  const manifest = await readManifest(files)
  const ids = [...run.journal.responses.values()].map((response) => response.id)
  return {
    ...run,
    patch: hash ? await loadPatch(files, hash).catch(() => null) : null,
    base: new Map(manifest.files.map((file) => [file.path, file.sha256])),
    chain: new Map([...answers].filter(([id]) => ids.includes(id))),
    records: records
      .filter((record) => record.session_id === run.run_id)
      .map((record) => record.memory_id),
    changed: await changedFiles(session, run.run_id),
  }
}

/** Every file that the workspace has or should have, and that is not as it was written. */
async function changedFiles(session: Session, runId: string): Promise<string[]> {
  const [project, folder] = [session.runs.get(runId), session.workspaces.get(runId)]
  if (!project || !folder) throw new Error(`nobody asked for ${runId}`)
  const entries = await readdir(folder, { recursive: true })
  const paths = new Set([...entries, ...Object.keys(project.files)])
  const compared = [...paths].map(async (path) => {
    const text = await readFile(join(folder, path), 'utf8').catch(() => null)
    return text === project.files[path] ? [] : [path]
  })
  return (await Promise.all(compared)).flat()
}

/** Read from the file itself: the service that owns it has ended. */
function readRecords(file: string): StoredRecord[] {
  if (!existsSync(file)) return []
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = db.prepare('SELECT memory_id, session_id FROM memories').all()
    return rows.map((row) => ({
      memory_id: String(row.memory_id),
      session_id: String(row.session_id),
    }))
  } finally {
    db.close()
  }
}

/** Which response each answer of the stand-in went on from. */
async function readAnswers(folder: string): Promise<Map<string, string | null>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  const answers = names.map(async (name) => {
    const { previous_response_id } = JSON.parse(await readFile(join(folder, name), 'utf8'))
    return [name.replace(/\.json$/, ''), previous_response_id] as const
  })
  return new Map(await Promise.all(answers))
}

const victimOf: Record<string, Victim> = {
  agent: 'agent-runner',
  tests: 'test-runner',
  memory: 'memory-store',
  embedder: 'embedder',
}

/** The crash points at which a process died, by the markers that they leave. */
async function readCrashes({ astra, runs }: Session) {
  const folder = join(astra.home, 'run', 'crashed')
  const crashes = crashPoints
    .filter((name) => existsSync(join(folder, name)))
    .map(async (name) => {
      const at = (await stat(join(folder, name))).mtimeMs
      const victim = victimOf[name.split('.')[0] ?? ''] ?? 'agent-runner'
      return { name, victim, at, until: at + FILE_TIME_MS, runs: [...runs.keys()] }
    })
  return Promise.all(crashes)
}

async function processesLeft(folders: string[]): Promise<string[]> {
  const deadline = Date.now() + GONE_MS
  let left = processesOf(folders)
  while (left.length > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    left = processesOf(folders)
  }
  return left.map(({ pid, command }) => `${pid} ${command}`)
}

async function halfWrittenFiles(home: string): Promise<string[]> {
  return (await readdir(home, { recursive: true })).filter((name) => name.endsWith('.tmp'))
}
