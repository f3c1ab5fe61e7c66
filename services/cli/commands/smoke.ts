import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { SMOKE_SESSION_PREFIX, type StorePayload } from '../../../shared/contracts/memory.ts'
import { AstraError, UnavailableError, UsageError } from '../../../shared/errors.ts'
import { askMemory } from '../../../shared/queue/ask-memory.ts'
import { secretsOf } from '../../../shared/scrub/known-secrets.ts'
import { scrubStore } from '../../../shared/scrub/scrub-store.ts'
import { createScrubber } from '../../../shared/scrub/scrubber.ts'
import type { CliContext } from '../context.ts'
import { createTerminal } from '../format/terminal.ts'
import { withServices } from '../with-services.ts'

type Options = { json?: boolean }

const seeDoctor = '`astra doctor` looks at it; the record is stored when it is back'

export function addSmokeCommand(program: Command, context: CliContext): void {
  const smoke = program
    .command('smoke')
    .description('try the memory from queue to disk with a temporary record')
  smoke
    .command('store')
    .description('store a temporary record and search for it')
    .option('--json', 'print the memory id as JSON')
    .action((options: Options) => store(context, options))
  smoke
    .command('verify')
    .description('check that the record persisted, and delete it')
    .requiredOption('--memory-id <id>', 'what `astra smoke store` printed')
    .option('--json', 'print what was checked as JSON')
    .action((options: Options & { memoryId: string }) => verify(context, options))
}

async function store(context: CliContext, options: Options): Promise<void> {
  const terminal = createTerminal(options)
  const session = `${SMOKE_SESSION_PREFIX}${randomBytes(6).toString('hex')}`
  const scrub = createScrubber(secretsOf(context.config()))
  const record = await scrubStore(temporaryRecord(session), scrub)
  const { symptom } = record.evidence
  const texts = [symptom, record.claim.fix_description]
  const found = await withServices(
    context.config(),
    context,
    terminal.note,
    async ({ producer }) => {
      const stored = await askMemory(producer, 'store', record, { texts })
      if (!stored.stored) throw new AstraError(stored.error, `not stored: ${stored.message}`)
      if (stored.waiting) throw new UnavailableError('the store is away', { hint: seeDoctor })
      const question = { query: symptom, error_type: null, top_k: 10 }
      const { matches } = await askMemory(producer, 'search', question, { texts: [symptom] })
      const match = matches.find((each) => each.memory_id === stored.memory_id)
      if (match) return match
      throw new AstraError('smoke_failed', `stored ${stored.memory_id}, but no search finds it`)
    },
  )
  terminal.printJson({ memory_id: found.memory_id, session_id: session, score: found.score })
  terminal.print(`stored and found again with score ${found.score.toFixed(4)}`)
  terminal.print(`memory_id ${found.memory_id}`)
  terminal.note(`now: astra smoke verify --memory-id ${found.memory_id}`)
}

async function verify(context: CliContext, options: Options & { memoryId: string }): Promise<void> {
  const terminal = createTerminal(options)
  const memory_id = options.memoryId
  await withServices(context.config(), context, terminal.note, async ({ producer }) => {
    const { record } = await askMemory(producer, 'get', { memory_id })
    if (!record) {
      throw new AstraError('smoke_failed', `memory ${memory_id} did not persist, or never was`)
    }
    if (!record.session_id.startsWith(SMOKE_SESSION_PREFIX)) {
      throw new UsageError(`memory ${memory_id} is no smoke record; it was left as it is`)
    }
    await askMemory(producer, 'delete', { memory_id })
    const after = await askMemory(producer, 'get', { memory_id })
    if (after.record) throw new AstraError('smoke_failed', `${memory_id} is still there`)
  })
  terminal.printJson({ memory_id, persisted: true, deleted: true })
  terminal.print(`${memory_id} persisted; it is deleted now`)
}

/** The session makes the text unique: an older record must not take this one's place. */
function temporaryRecord(session: string): StorePayload {
  return {
    claim: {
      fix_description: `Temporary record of the smoke test ${session}; nothing was repaired.`,
      error_type: 'SmokeTest',
      file_paths: ['smoke/test.ts'],
      outcome: 'smoke test, nothing was run',
    },
    evidence: {
      symptom_raw: `SmokeTest: temporary failure of ${session}`,
      symptom: `SmokeTest: temporary failure of ${session}`,
      diff: '',
      language: null,
      framework: null,
      repository_id: null,
      failing_tests: [],
      model: 'none',
    },
    session_id: session,
    confirmed_at: new Date().toISOString(),
    receipt: null,
  }
}
