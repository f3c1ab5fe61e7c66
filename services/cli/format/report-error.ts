import { CommanderError } from 'commander'
import { ZodError, z } from 'zod'
import { AstraError, ConfigError, errorText, UsageError } from '../../../shared/errors.ts'
import { INTERRUPT_EXIT_CODE, InterruptError } from '../interrupt.ts'

const FAULT = 1
const USAGE = 2

/** Says what went wrong, for a person or (`json`) a program, and returns the exit code. */
export function reportError(error: unknown, options: { json: boolean; debug: boolean }): number {
  if (error instanceof CommanderError) return reportCommander(error, options.json)
  const code = error instanceof AstraError ? error.code : 'internal'
  const hint = error instanceof AstraError ? (error.hint ?? null) : null
  const message = messageOf(error)
  if (options.json) printJsonError(code, message, hint)
  else process.stderr.write(`astra: ${message}\n${hint === null ? '' : `  ${hint}\n`}`)
  if (options.debug && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  return exitCodeOf(error)
}

/** Commander has written its own line, unless we are to speak JSON. */
function reportCommander(error: CommanderError, json: boolean): number {
  if (error.exitCode === 0) return 0
  if (json) {
    const suggestion = /\n\((Did you mean [^\n]*)\)$/.exec(error.message)
    const message = error.message.slice(0, suggestion?.index).replace(/^error: /, '')
    printJsonError('usage', message, suggestion?.[1] ?? null)
  }
  return USAGE
}

function printJsonError(code: string, message: string, hint: string | null): void {
  process.stdout.write(`${JSON.stringify({ error: { code, message, hint } }, null, 2)}\n`)
}

function messageOf(error: unknown): string {
  if (error instanceof ZodError) return z.prettifyError(error)
  // Our own messages are written for people; a cause behind them is for --debug.
  return error instanceof AstraError ? error.message : errorText(error)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof InterruptError) return INTERRUPT_EXIT_CODE
  return error instanceof UsageError || error instanceof ConfigError ? USAGE : FAULT
}
