import type { Command } from 'commander'
import { askMemory } from '../../../shared/queue/ask-memory.ts'
import type { Producer } from '../../../shared/queue/producer.ts'
import type { CliContext } from '../context.ts'
import { printRecord, printVerified } from '../format/format-memory.ts'
import type { Terminal } from '../format/terminal.ts'
import { wholeNumber } from '../run-options.ts'
import { verifyMemory } from '../verify-memory.ts'
import { type MemoryOptions, noSuchMemory, withMemory } from '../with-memory.ts'
import { addListCommand } from './memory-list.ts'
import { addRevokeCommands } from './memory-revoke.ts'
import { addSearchCommand } from './memory-search.ts'
import { addSupersedeCommand } from './memory-supersede.ts'
import { addTransferCommands } from './memory-transfer.ts'

type VerifyOptions = MemoryOptions & { limit: number }

export function addMemoryCommand(program: Command, context: CliContext): void {
  const memory = program.command('memory').description('look into the memory of proved fixes')
  addListCommand(memory, context)
  memory
    .command('show <id>')
    .description('show one record with its evidence')
    .option('--json', 'print it as JSON')
    .action((id: string, options: MemoryOptions) =>
      withMemory(context, options, (producer, terminal) => show(producer, terminal, id)),
    )
  addSearchCommand(memory, context)
  memory
    .command('verify')
    .description('check the receipts of all records, and list those that nothing proves')
    .option('--limit <n>', 'how many to list; all are counted', wholeNumber(0, 1000), 50)
    .option('--json', 'print counts and list as JSON')
    .action((options: VerifyOptions) =>
      withMemory(context, options, (producer, terminal) => verify(producer, terminal, options)),
    )
  memory
    .command('delete <id>')
    .description('remove one record for good')
    .option('--json', 'print what was done as JSON')
    .action((id: string, options: MemoryOptions) =>
      withMemory(context, options, (producer, terminal) => remove(producer, terminal, id)),
    )
  addRevokeCommands(memory, context)
  addSupersedeCommand(memory, context)
  addTransferCommands(memory, context)
}

const SOME_UNPROVED = 3

async function show(producer: Producer, terminal: Terminal, id: string): Promise<void> {
  const { record, unproved, expired } = await askMemory(producer, 'get', { memory_id: id })
  if (!record) throw noSuchMemory(id)
  terminal.printJson({ ...record, unproved, expired })
  printRecord(terminal, record, { unproved, expired })
}

async function verify(
  producer: Producer,
  terminal: Terminal,
  { limit }: VerifyOptions,
): Promise<void> {
  const verified = await verifyMemory(producer, limit)
  terminal.printJson(verified)
  printVerified(terminal, verified)
  if (verified.proved < verified.checked) process.exitCode = SOME_UNPROVED
}

async function remove(producer: Producer, terminal: Terminal, id: string): Promise<void> {
  const { deleted, brought_back } = await askMemory(producer, 'delete', { memory_id: id })
  if (!deleted) throw noSuchMemory(id)
  terminal.printJson({ memory_id: id, deleted, brought_back })
  terminal.print(`deleted ${id}`)
  for (const each of brought_back) terminal.print(`${each}, which it stood for, is found again`)
}
