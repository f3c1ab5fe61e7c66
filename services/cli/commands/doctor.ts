import type { Command } from 'commander'
import { errorText, UsageError } from '../../../shared/errors.ts'
import type { CliContext } from '../context.ts'
import type { Check } from '../doctor/check.ts'
import { examine } from '../doctor/doctor-checks.ts'
import { createTerminal, type Terminal } from '../format/terminal.ts'

type Options = { fix?: boolean; yes?: boolean; json?: boolean }
type Repaired = { check: string; does: string; done: boolean; problem: string | null }

/** A repair may bring to light what it hid: a folder that can be entered now. */
const MAX_ROUNDS = 3

export function addDoctorCommand(program: Command, context: CliContext): void {
  program
    .command('doctor')
    .description('check what this installation needs, and say what to do')
    .option('--fix', 'mend what can be mended without a loss, and say what')
    .option('--yes', 'with --fix: also install what is missing, as root')
    .option('--json', 'print the checks as JSON')
    .action(async (options: Options) => {
      process.exitCode = await doctor(context, options)
    })
}

async function doctor(context: CliContext, options: Options): Promise<number> {
  if (options.yes && !options.fix) throw new UsageError('--yes says something only with --fix')
  const terminal = createTerminal(options)
  const config = context.config()
  const repairs: Repaired[] = []
  let checks = await examine(config, context.env)
  for (let round = 0; options.fix && round < MAX_ROUNDS; round += 1) {
    const done = await repairAll(terminal, checks, options.yes ?? false)
    repairs.push(...done)
    if (!done.some((each) => each.done)) break
    checks = await examine(config, context.env)
  }
  const healthy = checks.every((check) => check.result !== 'fail')
  const shown = checks.map(({ repair: _repair, ...check }) => check)
  terminal.printJson({ healthy, checks: shown, ...(options.fix && { repairs }) })
  printChecks(terminal, checks, options.fix ?? false)
  return healthy ? 0 : 1
}

/** Each is told before it is done. One that fails holds up no other. */
async function repairAll(
  { note }: Terminal,
  checks: readonly Check[],
  consent: boolean,
): Promise<Repaired[]> {
  const repaired: Repaired[] = []
  for (const { name, repair } of checks) {
    if (!repair || (repair.needsConsent && !consent)) continue
    const { does } = repair
    note(`${name}: ${does}`)
    const problem = await repair.run().then(() => null, errorText)
    if (problem !== null) note(`${name}: that failed: ${problem}`)
    repaired.push({ check: name, does, done: problem === null, problem })
  }
  return repaired
}

function printChecks(terminal: Terminal, checks: readonly Check[], fixed: boolean): void {
  const { green, yellow, red } = terminal.style
  const marks = { ok: green('ok  '), warn: yellow('warn'), fail: red('fail') }
  for (const { name, result, found, advice } of checks) {
    terminal.print(`${marks[result]}  ${name.padEnd(12)} ${found}`)
    if (advice !== null) terminal.print(`                    ${advice}`)
  }
  if (!fixed && checks.some(({ repair }) => repair && !repair.needsConsent)) {
    terminal.note('`astra doctor --fix` mends some of this')
  }
  const installs = checks.flatMap(({ repair }) => (repair?.needsConsent ? [repair.does] : []))
  if (installs.length > 0) {
    terminal.note(`\`astra doctor --fix --yes\` would run: ${installs.join('; ')}`)
  }
}
