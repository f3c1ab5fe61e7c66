import type { Command } from 'commander'
import { createContext } from './context.ts'
import { reportError } from './format/report-error.ts'
import { onInterrupt } from './interrupt.ts'
import { createProgram } from './program.ts'

/** Does what the command line says, and sets the exit code. */
export async function runProgram(args: readonly string[]): Promise<void> {
  const context = createContext(process.env, process.cwd(), onInterrupt())
  const program = createProgram(context)
  // A reader that went away, such as `head`, is no fault of ours.
  process.stdout.on('error', () => process.exit(process.exitCode ?? 0))
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    const debug = process.env.ASTRA_LOG_LEVEL === 'debug'
    process.exitCode = reportError(error, { json: wantsJson(program, args), debug })
    // After an interrupt something may still be waited for; all else is closed by now.
    if (context.interrupted.aborted) process.exit()
  }
}

/** Where `--json` names a file, people read the rest. */
function wantsJson(program: Command, args: readonly string[]): boolean {
  const command = program.commands.find((each) => each.name() === args[0])
  const option = command?.options.find((each) => each.long === '--json')
  return args.includes('--json') && !option?.required
}
