import { UsageError } from '../../shared/errors.ts'
import type { Producer } from '../../shared/queue/producer.ts'
import type { CliContext } from './context.ts'
import { createTerminal, type Terminal } from './format/terminal.ts'
import { withServices } from './with-services.ts'

export type MemoryOptions = { json?: boolean }

/** Runs `use` while the services are up; what it prints is text, or JSON where that was asked for. */
export async function withMemory(
  context: CliContext,
  options: MemoryOptions,
  use: (producer: Producer, terminal: Terminal) => Promise<void>,
): Promise<void> {
  const terminal = createTerminal(options)
  await withServices(context.config(), context, terminal.note, ({ producer }) =>
    use(producer, terminal),
  )
}

export function noSuchMemory(id: string): UsageError {
  return new UsageError(`there is no memory ${id}`, { hint: '`astra memory list` lists them' })
}
