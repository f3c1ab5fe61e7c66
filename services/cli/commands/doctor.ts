import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { examine } from '../doctor/doctor-checks.ts'
import { createTerminal } from '../format/terminal.ts'

type Options = { json?: boolean }

export function addDoctorCommand(program: Command, context: CliContext): void {
  program
    .command('doctor')
    .description('check what this installation needs, and say what to do')
    .option('--json', 'print the checks as JSON')
    .action(async (options: Options) => {
      process.exitCode = await doctor(context, options)
    })
}

async function doctor(context: CliContext, options: Options): Promise<number> {
  const terminal = createTerminal(options)
  const checks = await examine(context.config(), context.env)
  const healthy = checks.every((check) => check.result !== 'fail')
  terminal.printJson({ healthy, checks })
  const { green, yellow, red } = terminal.style
  const marks = { ok: green('ok  '), warn: yellow('warn'), fail: red('fail') }
  for (const { name, result, found, advice } of checks) {
    terminal.print(`${marks[result]}  ${name.padEnd(12)} ${found}`)
    if (advice !== null) terminal.print(`                    ${advice}`)
  }
  return healthy ? 0 : 1
}
