import { type Command, Option } from 'commander'
import type { RecallMode } from '../../../shared/contracts/run.ts'
import { UsageError } from '../../../shared/errors.ts'
import { askMemory } from '../../../shared/queue/ask-memory.ts'
import type { CliContext } from '../context.ts'
import type { FinishedRun } from '../fix-workspace.ts'
import { eventLine, refusalHelp } from '../format/format-run.ts'
import { createTerminal, type Terminal, table } from '../format/terminal.ts'
import { checkJsonFile, writeJsonFile } from '../json-file.ts'
import { type OriginalTests, originalTests, originalTestsText } from '../original-tests.ts'
import { readTranscript } from '../read-transcript.ts'
import { wholeNumber } from '../run-options.ts'
import { runScenario } from '../scenario-session.ts'
import { type DemoLanguage, demoLanguages, type Scratch, withScratchHome } from '../scratch-home.ts'
import { type Services, withServices } from '../with-services.ts'

type Options = {
  sessions: number
  scenario: string
  language: DemoLanguage
  approveLiveCost?: boolean
  keep?: boolean
  json?: string
}

type Session = { run: FinishedRun; tests: OriginalTests | null }
type Round = { recall: RecallMode; sessions: Session[] }

export function addExperimentCommand(program: Command, context: CliContext): void {
  program
    .command('experiment')
    .description(
      'repeat one task: first with an empty memory, then with that session’s record alone',
    )
    .option('--sessions <n>', 'sessions of each recall mode', wholeNumber(2, 50), 5)
    .option('--scenario <name>', 'which demo project', 'scenario_beta')
    .addOption(
      new Option('--language <language>', 'projects of which language; python needs pytest')
        .choices(demoLanguages)
        .default('typescript'),
    )
    .option('--approve-live-cost', 'ask Astra and pay for it, instead of the stand-in')
    .option('--keep', 'keep the data and the repaired projects')
    .option('--json <file>', 'write the runs to a file')
    .action(async (options: Options) => {
      process.exitCode = await experiment(context, options)
    })
}

async function experiment(context: CliContext, options: Options): Promise<number> {
  const terminal = createTerminal({})
  const file = options.json === undefined ? null : context.path(options.json)
  if (file) await checkJsonFile(file)
  if (!options.approveLiveCost) {
    terminal.print(
      'The model is a local stand-in, not Astra; costs are notional, nobody pays them.',
    )
  }
  const rounds = await withScratchHome(context, { keep: options.keep ?? false }, (scratch) =>
    withServices(scratch.config, scratch.host, terminal.note, async (services) => {
      if (options.keep) terminal.print(`Everything stays in ${scratch.folder}`)
      const done: Round[] = []
      for (const recall of ['tool', 'prefetch'] as const) {
        const sessions = await runRound(context, terminal, scratch, services, {
          ...options,
          recall,
        })
        printRound(terminal, { recall, sessions })
        done.push({ recall, sessions })
      }
      return done
    }),
  )
  if (file) await writeJsonFile(file, { rounds })
  const all = rounds.flatMap((round) => round.sessions)
  return all.every(({ run }) => run.status === 'fixed') ? 0 : 1
}

/** The sessions of one recall mode. Afterwards the memory is empty again. */
async function runRound(
  context: CliContext,
  terminal: Terminal,
  scratch: Scratch,
  services: Services,
  { recall, sessions, scenario, language, approveLiveCost }: Options & { recall: RecallMode },
): Promise<Session[]> {
  const done: Session[] = []
  for (let session = 1; session <= sessions; session += 1) {
    const runId = `experiment-${recall}-${session}`
    terminal.note(`${recall} recall, session ${session}`)
    const live = approveLiveCost ?? false
    const run = await runScenario(
      context,
      scratch,
      services,
      { runId, scenario, language, recall, live },
      (event) => terminal.note(`  ${eventLine(event)}`),
    )
    if (run.status === 'refused') {
      throw new UsageError(`session ${session} was refused: ${run.message}`, {
        hint: refusalHelp(run) ?? 'see the message',
      })
    }
    const tests = originalTests(await readTranscript(scratch.config.home, runId))
    done.push({ run, tests })
    if (session > 1) await forget(services, run)
  }
  if (done[0]) await forget(services, done[0].run)
  return done
}

async function forget({ producer }: Services, run: FinishedRun): Promise<void> {
  const memory_id = run.stored_memory_id
  if (memory_id !== null) await askMemory(producer, 'delete', { memory_id })
}

function printRound(terminal: Terminal, { recall, sessions }: Round): void {
  const first = sessions[0]?.run.stored_memory_id
  const rows = sessions.map(({ run, tests }, index) => [
    String(index + 1),
    run.recall.returned.some((match) => match.memory_id === first) ? 'Yes' : 'No',
    String(run.requests),
    String(run.tool_calls),
    originalTestsText(tests),
    `$${run.cost_usd.toFixed(6)}${run.cost_is_notional ? ' notional' : ''}`,
  ])
  const header = [
    'Session',
    'Memory retrieved',
    'Requests',
    'Tool calls',
    'Untouched tests',
    'Cost',
  ]
  terminal.print(`\n${terminal.style.bold(`Recall: ${recall}`)}`)
  terminal.print(table(header, rows))
}
