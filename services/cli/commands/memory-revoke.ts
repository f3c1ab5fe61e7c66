import { type Command, Option } from 'commander'
import type { Payload } from '../../../shared/contracts/catalog.ts'
import type { RestoreResult, RevokeResult } from '../../../shared/contracts/memory-lifecycle.ts'
import { UsageError } from '../../../shared/errors.ts'
import { askMemory } from '../../../shared/queue/ask-memory.ts'
import type { CliContext } from '../context.ts'
import type { Terminal } from '../format/terminal.ts'
import { type MemoryOptions, noSuchMemory, withMemory } from '../with-memory.ts'

type Which = Payload<'memory', 'revoke'>['which']
type Options = MemoryOptions & { session?: string; repository?: string }

/** `revoke` and `restore`: what takes records out of every search, and back. */
export function addRevokeCommands(memory: Command, context: CliContext): void {
  selecting(memory.command('revoke [id]'))
    .description('take records out of every search; `restore` takes that back')
    .action((id: string | undefined, options: Options) => {
      const which = selected(id, options)
      return withMemory(context, options, async (producer, terminal) => {
        const result = await askMemory(producer, 'revoke', { which })
        requireFound(which, result.found)
        terminal.printJson({ ...which, ...result })
        printRevoked(terminal, result)
      })
    })
  selecting(memory.command('restore [id]'))
    .description('take a revocation back, by the same names')
    .action((id: string | undefined, options: Options) => {
      const which = selected(id, options)
      return withMemory(context, options, async (producer, terminal) => {
        const result = await askMemory(producer, 'restore', { which })
        requireFound(which, result.found)
        terminal.printJson({ ...which, ...result })
        printRestored(terminal, result)
      })
    })
}

function selecting(command: Command): Command {
  return command
    .option('--session <run>', 'all records that this run stored')
    .addOption(
      new Option('--repository <id>', 'all records of this repository; `memory show` tells its id'),
    )
    .option('--json', 'print what was done as JSON')
}

/** Exactly one of the three. */
function selected(id: string | undefined, { session, repository }: Options): Which {
  const given: (Which | null)[] = [
    id === undefined ? null : { memory_id: id },
    session === undefined ? null : { session_id: session },
    repository === undefined ? null : { repository_id: repository },
  ]
  const [which, ...others] = given.filter((each) => each !== null)
  if (which === undefined || others.length > 0 || Object.values(which)[0]?.trim() === '') {
    throw new UsageError('give one of: the id of a memory, --session RUN, --repository ID')
  }
  return which
}

function requireFound(which: Which, found: number): void {
  if (found > 0) return
  if ('memory_id' in which) throw noSuchMemory(which.memory_id)
  const [name, hint] =
    'session_id' in which
      ? [`session ${which.session_id}`, '`astra memory list` lists them']
      : [
          `repository ${which.repository_id}`,
          '`astra memory show ID` tells the repository of a record',
        ]
  throw new UsageError(`there is no record of ${name}`, { hint })
}

function printRevoked({ print }: Terminal, result: RevokeResult): void {
  print(changedText('revoked', result))
  for (const id of result.stands_for) {
    print(`${id}, which it stood for, stays out too: \`astra memory supersede ${id} --undo\``)
  }
}

function printRestored({ print }: Terminal, result: RestoreResult): void {
  print(changedText('restored', result))
  for (const id of result.superseded) print(`${id} stays out: another record stands for it`)
}

function changedText(
  done: 'revoked' | 'restored',
  { found, changed }: { found: number; changed: number },
): string {
  const already = done === 'revoked' ? 'revoked already' : 'not revoked'
  if (changed === 0) return `nothing to do: ${counted(found)} ${already}`
  const others = found > changed ? `; ${counted(found - changed)} ${already}` : ''
  return `${done} ${changed} ${changed === 1 ? 'record' : 'records'}${others}`
}

function counted(count: number): string {
  return count === 1 ? '1 record is' : `${count} records are`
}
