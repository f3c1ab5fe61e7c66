import { styleText } from 'node:util'
import { Command, CommanderError } from 'commander'
import { productVersion } from '../../shared/product-version.ts'
import { addApplyCommand } from './commands/apply.ts'
import { addBackupCommand } from './commands/backup.ts'
import { addCancelCommand } from './commands/cancel.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addCostCommand } from './commands/cost.ts'
import { addDashboardCommand } from './commands/dashboard.ts'
import { addDemoCommand } from './commands/demo.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addEnqueueCommand } from './commands/enqueue.ts'
import { addExperimentCommand } from './commands/experiment.ts'
import { addFixCommand } from './commands/fix.ts'
import { addHelpCommand } from './commands/help.ts'
import { addInitCommand } from './commands/init.ts'
import { addKeysCommand } from './commands/keys.ts'
import { addLogsCommand } from './commands/logs.ts'
import { addMemoryCommand } from './commands/memory.ts'
import { addRestoreCommand } from './commands/restore.ts'
import { addRunsCommand } from './commands/runs.ts'
import { addSmokeCommand } from './commands/smoke.ts'
import { addStatusCommand } from './commands/status.ts'
import { addUpCommand } from './commands/up.ts'
import { addVerifyCommand } from './commands/verify.ts'
import { addWatchCommand } from './commands/watch.ts'
import type { CliContext } from './context.ts'
import { hasColours } from './format/terminal.ts'
import { formatHelp } from './manual/format-help.ts'

/** What the commands are for, in the order in which help lists them. */
const groups = {
  Repair: [addFixCommand, addEnqueueCommand, addApplyCommand, addVerifyCommand, addCancelCommand],
  Look: [
    addStatusCommand,
    addWatchCommand,
    addRunsCommand,
    addCostCommand,
    addDashboardCommand,
    addLogsCommand,
  ],
  Memory: [addMemoryCommand, addKeysCommand],
  'Run the services': [
    addUpCommand,
    addDoctorCommand,
    addBackupCommand,
    addRestoreCommand,
    addSmokeCommand,
  ],
  'Set up': [
    addInitCommand,
    addCompletionCommand,
    addDemoCommand,
    addExperimentCommand,
    addHelpCommand,
  ],
}

/** The whole command line, as a program that throws CommanderError where commander would exit. */
export function createProgram(context: CliContext): Command {
  const program = new Command('astra')
    .description('A coding agent that remembers: repairs failing tests, and keeps what was proved.')
    .exitOverride()
    .helpCommand(false)
    .configureHelp({
      formatHelp,
      styleTitle: (title) => styleText('bold', title, { validateStream: false }),
    })
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, 'astra: ')),
      getOutHasColors: () => hasColours(process.stdout, process.env),
      getErrHasColors: () => hasColours(process.stderr, process.env),
    })
  addVersion(program)
  for (const [title, commands] of Object.entries(groups)) {
    program.commandsGroup(`${title}:`)
    for (const add of commands) add(program, context)
  }
  return program
}

/** `--version` ends the program; `--json` beside it is no option of its own. */
function addVersion(program: Command): void {
  program
    .option('-V, --version', 'print the version; with --json as JSON')
    .on('option:version', () => {
      const version = productVersion()
      const json = process.argv.includes('--json')
      const text = json ? JSON.stringify({ version, node: process.version }, null, 2) : version
      process.stdout.write(`${text}\n`)
      throw new CommanderError(0, 'commander.version', version)
    })
}
