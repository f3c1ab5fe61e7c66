import { type Command, InvalidArgumentError, Option } from 'commander'
import { type MemoryState, memoryStateSchema } from '../../../shared/contracts/memory.ts'
import { askMemory } from '../../../shared/queue/ask-memory.ts'
import type { Producer } from '../../../shared/queue/producer.ts'
import type { CliContext } from '../context.ts'
import { stateOf } from '../format/format-memory.ts'
import { oneLine, type Terminal, table } from '../format/terminal.ts'
import { wholeNumber } from '../run-options.ts'
import { type MemoryOptions, withMemory } from '../with-memory.ts'

type Filter = { session?: string; errorType?: string; repository?: string; state?: MemoryState }
type ListOptions = MemoryOptions & Filter & { limit: number; offset: number }

export function addListCommand(memory: Command, context: CliContext): void {
  memory
    .command('list')
    .description('list the records, newest first')
    .option('--limit <n>', 'how many', wholeNumber(1, 500), 50)
    .option('--offset <n>', 'how many to leave out', wholeNumber(0, 1_000_000_000), 0)
    .option('--session <run>', 'only those that this run stored', filterText)
    .option(
      '--error-type <name>',
      'only fixes of this error type, as searches compare it',
      filterText,
    )
    .option('--repository <id>', 'only fixes of this repository', filterText)
    .addOption(
      new Option('--state <state>', 'only records in this state').choices(
        memoryStateSchema.options,
      ),
    )
    .option('--json', 'print them as JSON')
    .action((options: ListOptions) =>
      withMemory(context, options, (producer, terminal) => list(producer, terminal, options)),
    )
}

/** What a record can be compared with. An empty text is the slip of a script: it asks for nothing. */
function filterText(text: string): string {
  const trimmed = text.trim()
  if (trimmed.length >= 1 && trimmed.length <= 200) return trimmed
  throw new InvalidArgumentError('It must have 1 to 200 characters.')
}

async function list(producer: Producer, terminal: Terminal, options: ListOptions): Promise<void> {
  const { limit, offset, session, errorType, repository, state } = options
  const page = await askMemory(producer, 'list', {
    limit,
    offset,
    session_id: session ?? null,
    ...(errorType !== undefined && { error_type: errorType }),
    ...(repository !== undefined && { repository_id: repository }),
    ...(state !== undefined && { state }),
  })
  terminal.printJson(page)
  const { records, total } = page
  if (records.length === 0) {
    terminal.print(total === 0 ? nothingText(options) : `there are only ${total}`)
    return
  }
  const rows = records.map((record) => [
    record.memory_id,
    record.timestamp.slice(0, 16),
    record.proved ? 'proved' : 'unproved',
    stateOf(record),
    oneLine(record.error_type, 24),
    oneLine(record.fix_description, 60),
  ])
  terminal.print(table(['Memory', 'Confirmed', 'Proof', 'State', 'Error type', 'Fix'], rows))
  terminal.print(`${records.length} of ${total}`)
}

function nothingText({ session, errorType, repository, state }: Filter): string {
  const asked = Object.entries({ session, 'error type': errorType, repository, state })
  const words = asked.flatMap(([name, value]) => (value === undefined ? [] : `${name} ${value}`))
  return words.length === 0 ? 'the memory is empty' : `there is no record of ${words.join(', ')}`
}
