import { once } from 'node:events'
import { join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { MAX_PROCESSES, type Scale, UNSAFE_FLAG } from '../../../shared/contracts/supervisor.ts'
import { supervisorStatus } from '../../../shared/supervisor-client.ts'
import type { CliContext } from '../context.ts'
import { createTerminal } from '../format/terminal.ts'
import { addressText, withServices } from '../with-services.ts'

type Options = {
  embedders?: number
  testRunners?: number
  agentRunners?: number
  json?: boolean
  unsafeNoSandbox?: boolean
}

export function addUpCommand(program: Command, context: CliContext): void {
  program
    .command('up')
    .description('start Redis and all services, and keep them until Ctrl-C')
    .option('--embedders <n>', 'processes that embed texts; one core each', processCount)
    .option(
      '--test-runners <n>',
      'processes that run tests, ASTRA_TEST_CONCURRENCY each',
      processCount,
    )
    .option(
      '--agent-runners <n>',
      'processes that drive runs, ASTRA_RUN_CONCURRENCY each',
      processCount,
    )
    .option(UNSAFE_FLAG, 'run tests with your rights, where there is no sandbox; receipts say so')
    .option('--json', 'print what runs as JSON')
    .action((options: Options) => up(context, options))
}

/** For services that run already, too: `up --embedders 4` beside them makes them four. */
function scaleOf({ embedders, testRunners, agentRunners }: Options): Scale {
  return {
    ...(embedders && { embedder: embedders }),
    ...(testRunners && { 'test-runner': testRunners }),
    ...(agentRunners && { 'agent-runner': agentRunners }),
  }
}

function processCount(text: string): number {
  const count = Number(text)
  if (/^[0-9]+$/.test(text) && count >= 1 && count <= MAX_PROCESSES) return count
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_PROCESSES}.`)
}

async function up(context: CliContext, options: Options): Promise<void> {
  const terminal = createTerminal(options)
  const config = context.config()
  // Ctrl-C is the way to end this command, so it is waited for here and is no error.
  const { unsafeNoSandbox = false } = options
  const processes = scaleOf(options)
  const patient = {
    env: context.env,
    interrupted: new AbortController().signal,
    unsafeNoSandbox,
    processes,
    own: true,
  }
  await withServices(config, patient, terminal.note, async () => {
    const running = (await supervisorStatus(config))?.processes ?? []
    const logs = join(config.home, 'logs')
    const redis = addressText(config)
    terminal.printJson({ home: config.home, logs, redis, processes: running })
    terminal.print(`data   ${config.home}`)
    terminal.print(`logs   ${logs}`)
    terminal.print(`redis  ${redis}`)
    for (const { name, pid } of running) terminal.print(`       ${name} (process ${pid})`)
    terminal.print('Ctrl-C stops them, unless another command still uses them.')
    if (!context.interrupted.aborted) await once(context.interrupted, 'abort')
    terminal.note('stopping')
  })
}
