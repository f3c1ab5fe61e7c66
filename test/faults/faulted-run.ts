import { sha256 } from '../../shared/contracts/ids.ts'
import { patchHash } from '../../shared/contracts/patch.ts'
import { readRunEvents } from '../../shared/contracts/run-view.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import type { Fault, Injected } from '../chaos/faults.ts'
import { checkInstallation } from '../chaos/invariants.ts'
import { observe } from '../chaos/observe.ts'
import type { ObservedRun } from '../chaos/observed.ts'
import type { Project } from '../chaos/projects.ts'
import {
  endSession,
  enqueue,
  openSession,
  removeSession,
  type Session,
  untilQuiet,
} from '../chaos/session.ts'

/** A test that waits for an event fails here, with what it waited for. */
const LIMIT_MS = 300_000
const QUIET_SECONDS = 90
const BLOCK_MS = 500

const source = 'export function isGrownUp(age) {\n  return age > 18\n}\n'
const mended = source.replace('>', '>=')

/** One run in an installation of its own, of a project whose repair is known to the letter. */
export type FaultedRun = {
  session: Session
  runId: string
  /** Resolves when an event of the run says something that matches; from the first event on. */
  event(pattern: RegExp): Promise<void>
  /** Says that a fault was injected by hand, so that what it costs is explained. */
  injected(victim: Fault['victim'], from: number): Injected
  /** Waits for the end and returns the run, and all that is wrong with it or its installation. */
  end(): Promise<{ run: ObservedRun; problems: string[] }>
  remove(): Promise<void>
}

/** Asks for the run. `slowMs`: so long do its tests hang, counted from now on. */
export async function startFaultedRun(slowMs = 0): Promise<FaultedRun> {
  const session = await openSession('one run', {}, AbortSignal.timeout(LIMIT_MS))
  const project = grownUp(Date.now() + slowMs)
  const runId = 'faulted'
  await enqueue(session, runId, project)
  return {
    session,
    runId,
    event: (pattern) => waitForEvent(session, runId, pattern),
    injected(victim, from) {
      const fault = { name: 'by hand', victim, at: from, until: Date.now(), runs: [runId] }
      session.injected.push(fault)
      return fault
    },
    async end() {
      const seen = await observe(session, [], await untilQuiet(session, QUIET_SECONDS))
      const file = { path: 'index.js', before: sha256(source), after: mended }
      const reference = { patch_hash: patchHash({ files: [file] }), requests: 6 }
      const findings = checkInstallation(seen, new Map([[project.name, reference]]))
      const [run] = seen.runs
      if (!run) throw new Error('the run is gone')
      return { run, problems: findings.map(({ kind, message }) => `${kind}: ${message}`) }
    },
    async remove() {
      await endSession(session)
      await removeSession(session)
    },
  }
}

function grownUp(slowUntil: number): Project {
  const check = [
    "import assert from 'node:assert/strict'",
    "import { test } from 'node:test'",
    "import { setTimeout as delay } from 'node:timers/promises'",
    "import { isGrownUp } from './index.js'",
    '',
    "test('eighteen is grown up', async () => {",
    `  while (Date.now() < ${slowUntil}) await delay(50)`,
    '  assert.equal(isGrownUp(18), true)',
    '  assert.equal(isGrownUp(17), false)',
    '})',
    '',
  ]
  return {
    name: 'grown-up',
    files: {
      'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n',
      'index.js': source,
      'index.test.js': check.join('\n'),
    },
  }
}

/** On a connection of its own: a blocking read holds up everything else. */
async function waitForEvent(session: Session, runId: string, pattern: RegExp): Promise<void> {
  const redis = connectOrFail(session.astra.config.redis, { waitMs: LIMIT_MS })
  redis.on('error', () => {})
  try {
    for (let cursor = '0'; !session.signal.aborted; ) {
      const next = await readRunEvents(redis, runId, cursor, BLOCK_MS)
      if (next.events.some((event) => pattern.test(event.text))) return
      cursor = next.cursor
    }
    throw new Error(`the run never said ${pattern}`)
  } finally {
    redis.disconnect()
  }
}
