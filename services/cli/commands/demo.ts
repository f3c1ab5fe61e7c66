import { type Command, Option } from 'commander'
import { UNSAFE_FLAG } from '../../../shared/contracts/supervisor.ts'
import type { CliContext } from '../context.ts'
import { checksOf, type DemoSession, printDemo } from '../format/demo-report.ts'
import { eventLine } from '../format/format-run.ts'
import { createTerminal, type Terminal } from '../format/terminal.ts'
import { whereToSee } from '../format/where-to-see.ts'
import { checkJsonFile, writeJsonFile } from '../json-file.ts'
import { originalTests } from '../original-tests.ts'
import { readTranscript } from '../read-transcript.ts'
import { recallFacts } from '../recall-facts.ts'
import { runScenario } from '../scenario-session.ts'
import { type DemoLanguage, demoLanguages, type Scratch, withScratchHome } from '../scratch-home.ts'
import { type Services, withServices } from '../with-services.ts'

type Options = {
  keep?: boolean
  language: DemoLanguage
  json?: string
  unsafeNoSandbox?: boolean
}

/** Alpha and gamma have one cause in two projects; beta has another. */
const plan = [
  { scenario: 'scenario_alpha', title: 'a web service, with an empty memory' },
  { scenario: 'scenario_gamma', title: 'the same cause in another project' },
  { scenario: 'scenario_beta', title: 'another cause in a third project' },
]

export function addDemoCommand(program: Command, context: CliContext): void {
  program
    .command('demo')
    .description('show, in three sessions without a key, that a proved fix reaches a later session')
    .addOption(
      new Option('--language <language>', 'projects of which language; python needs pytest')
        .choices(demoLanguages)
        .default('typescript'),
    )
    .option('--keep', 'keep the data and the repaired projects, for the dashboard to show')
    .option(UNSAFE_FLAG, 'run tests with your rights, where there is no sandbox')
    .option('--json <file>', 'write what was recorded to a file')
    .action(async (options: Options) => {
      process.exitCode = await demo(context, options)
    })
}

async function demo(context: CliContext, options: Options): Promise<number> {
  const terminal = createTerminal({})
  const { unsafeNoSandbox = false } = options
  const started = performance.now()
  const file = options.json === undefined ? null : context.path(options.json)
  if (file) await checkJsonFile(file)
  terminal.print(
    'Three sessions on three small projects. The model is a local stand-in, not Astra:',
  )
  terminal.print(
    'a search over small edits. Queues, memory, gates, tests and proof are the real ones.',
  )
  const keep = options.keep ?? false
  const { sessions, kept } = await withScratchHome(context, { keep }, (scratch) =>
    withServices(
      scratch.config,
      { ...scratch.host, unsafeNoSandbox },
      terminal.note,
      async (services) => {
        if (keep) terminal.print(`Everything stays in ${scratch.folder}`)
        const sessions = await runSessions(context, terminal, scratch, services, options.language)
        return { sessions, kept: keep ? scratch.config.home : null }
      },
    ),
  )
  const checks = checksOf(sessions)
  printDemo(terminal, sessions, checks)
  if (file) await writeJsonFile(file, { sessions, checks })
  const holds = checks.every((check) => check.holds)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  terminal.print(`\n${holds ? 'All of it held' : 'Not all of it held'}, in ${seconds} s.`)
  terminal.print(whereToSee(context, kept))
  return holds ? 0 : 1
}

async function runSessions(
  context: CliContext,
  terminal: Terminal,
  scratch: Scratch,
  services: Services,
  language: DemoLanguage,
): Promise<DemoSession[]> {
  const sessions: DemoSession[] = []
  for (const [index, { scenario, title }] of plan.entries()) {
    const session = index + 1
    const runId = `demo-${session}-${scenario.replace('scenario_', '')}`
    terminal.print(`\n${terminal.style.bold(`Session ${session}: ${scenario}`)}, ${title}`)
    const run = await runScenario(
      context,
      scratch,
      services,
      { runId, scenario, language, recall: 'tool', live: false },
      (event) => terminal.print(`  ${eventLine(event)}`),
    )
    terminal.print(`  ${run.status}: ${run.message}`)
    const lines = await readTranscript(scratch.config.home, runId)
    const recorded = { facts: recallFacts(lines), tests: originalTests(lines) }
    sessions.push({ session, scenario, run, ...recorded })
  }
  return sessions
}
