import { once } from 'node:events'
import { join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import {
  MAX_PROCESSES,
  SCALED_SERVICES,
  type Scale,
  type ScaledService,
  type SupervisorKind,
  UNSAFE_FLAG,
} from '../../../shared/contracts/supervisor.ts'
import { UsageError } from '../../../shared/errors.ts'
import { supervisorStatus } from '../../../shared/supervisor-client.ts'
import type { CliContext } from '../context.ts'
import { createTerminal } from '../format/terminal.ts'
import { addressText, withServices } from '../with-services.ts'

type Options = {
  only?: ScaledService[]
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
    .option(
      '--only <services>',
      'nothing but these, for a fleet whose Redis and memory are elsewhere: of agent-runner, test-runner, embedder',
      servicesNamed,
    )
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

const counts = {
  embedder: ['embedders', '--embedders'],
  'test-runner': ['testRunners', '--test-runners'],
  'agent-runner': ['agentRunners', '--agent-runners'],
} as const

/**
 * How many processes there are to be, also of services that run already: `up --embedders 4` beside
 * them makes them four. Of what --only names at least one.
 */
function scaleOf(options: Options): Scale {
  const { only } = options
  const scale: Scale = Object.fromEntries(only?.map((service) => [service, 1]) ?? [])
  for (const service of SCALED_SERVICES) {
    const [option, flag] = counts[service]
    const count = options[option]
    if (count === undefined) continue
    if (only && !only.includes(service)) {
      throw new UsageError(`${flag} says how many, and --only leaves that service out`, {
        hint: `name ${service} in --only as well`,
      })
    }
    scale[service] = count
  }
  return scale
}

function servicesNamed(text: string): ScaledService[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !SCALED_SERVICES.some((service) => service === name))
  if (unknown === undefined) return names as ScaledService[]
  throw new InvalidArgumentError(`Choose from ${SCALED_SERVICES.join(', ')}, with commas between.`)
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
  const own: SupervisorKind = options.only ? 'workers' : 'supervisor'
  if (options.only && !('url' in config.redis)) {
    throw new UsageError('--only adds to a fleet, and REDIS_URL names none', {
      hint: "set REDIS_URL to the fleet's Redis, or leave --only away",
    })
  }
  const patient = {
    env: context.env,
    interrupted: new AbortController().signal,
    unsafeNoSandbox,
    processes,
    own,
  }
  await withServices(config, patient, terminal.note, async () => {
    const running = (await supervisorStatus(config, own))?.processes ?? []
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
