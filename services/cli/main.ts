import { Command } from 'commander'
import { addApplyCommand } from './commands/apply.ts'
import { addCancelCommand } from './commands/cancel.ts'
import { addCostCommand } from './commands/cost.ts'
import { addDashboardCommand } from './commands/dashboard.ts'
import { addDemoCommand } from './commands/demo.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addEnqueueCommand } from './commands/enqueue.ts'
import { addExperimentCommand } from './commands/experiment.ts'
import { addFixCommand } from './commands/fix.ts'
import { addKeysCommand } from './commands/keys.ts'
import { addMemoryCommand } from './commands/memory.ts'
import { addRunsCommand } from './commands/runs.ts'
import { addSmokeCommand } from './commands/smoke.ts'
import { addStatusCommand } from './commands/status.ts'
import { addUpCommand } from './commands/up.ts'
import { addVerifyCommand } from './commands/verify.ts'
import { addWatchCommand } from './commands/watch.ts'
import { createContext } from './context.ts'
import { reportError } from './format/report-error.ts'
import { onInterrupt } from './interrupt.ts'

const context = createContext(process.env, process.cwd(), onInterrupt())
const program = new Command('astra')
  .description('A coding agent that remembers: repairs failing tests, and keeps what was proved.')
  .exitOverride()
  .configureOutput({
    outputError: (text, write) => write(text.replace(/^error: /, 'astra: ')),
  })
for (const add of [
  addUpCommand,
  addFixCommand,
  addEnqueueCommand,
  addApplyCommand,
  addVerifyCommand,
  addStatusCommand,
  addRunsCommand,
  addWatchCommand,
  addCancelCommand,
  addCostCommand,
  addDashboardCommand,
  addMemoryCommand,
  addKeysCommand,
  addSmokeCommand,
  addDemoCommand,
  addExperimentCommand,
  addDoctorCommand,
]) {
  add(program, context)
}

// A reader that went away, such as `head`, is no fault of ours.
process.stdout.on('error', () => process.exit(process.exitCode ?? 0))

try {
  await program.parseAsync()
} catch (error) {
  // There --json names a file, and people read the rest.
  const forPeople = ['demo', 'experiment'].includes(process.argv[2] ?? '')
  const json = process.argv.includes('--json') && !forPeople
  const debug = process.env.ASTRA_LOG_LEVEL === 'debug'
  process.exitCode = reportError(error, { json, debug })
  // After an interrupt something may still be waited for; all else is closed by now.
  if (context.interrupted.aborted) process.exit()
}
