import { once } from 'node:events'
import { join } from 'node:path'
import type { Command } from 'commander'
import { UNSAFE_FLAG } from '../../../shared/contracts/supervisor.ts'
import { supervisorStatus } from '../../../shared/supervisor-client.ts'
import type { CliContext } from '../context.ts'
import { createTerminal } from '../format/terminal.ts'
import { addressText, withServices } from '../with-services.ts'

type Options = { json?: boolean; unsafeNoSandbox?: boolean }

export function addUpCommand(program: Command, context: CliContext): void {
  program
    .command('up')
    .description('start Redis and all services, and keep them until Ctrl-C')
    .option(UNSAFE_FLAG, 'run tests with your rights, where there is no sandbox; receipts say so')
    .option('--json', 'print what runs as JSON')
    .action((options: Options) => up(context, options))
}

async function up(context: CliContext, options: Options): Promise<void> {
  const terminal = createTerminal(options)
  const config = context.config()
  // Ctrl-C is the way to end this command, so it is waited for here and is no error.
  const { unsafeNoSandbox = false } = options
  const patient = { env: context.env, interrupted: new AbortController().signal, unsafeNoSandbox }
  await withServices(config, patient, terminal.note, async () => {
    const processes = (await supervisorStatus(config))?.processes ?? []
    const logs = join(config.home, 'logs')
    const redis = addressText(config)
    terminal.printJson({ home: config.home, logs, redis, processes })
    terminal.print(`data   ${config.home}`)
    terminal.print(`logs   ${logs}`)
    terminal.print(`redis  ${redis}`)
    for (const { name, pid } of processes) terminal.print(`       ${name} (process ${pid})`)
    terminal.print('Ctrl-C stops them, unless another command still uses them.')
    if (!context.interrupted.aborted) await once(context.interrupted, 'abort')
    terminal.note('stopping')
  })
}
