import type { Command } from 'commander'
import { UsageError } from '../../../shared/errors.ts'
import { askMemory } from '../../../shared/queue/ask-memory.ts'
import type { CliContext } from '../context.ts'
import { type MemoryOptions, withMemory } from '../with-memory.ts'

type Options = MemoryOptions & { undo?: boolean }

/** `supersede`: one record stands for another in searches, or does not any more. */
export function addSupersedeCommand(memory: Command, context: CliContext): void {
  memory
    .command('supersede <old> [new]')
    .description('let the new record stand for the old one in searches')
    .option('--undo', 'let the old one stand for itself again')
    .option('--json', 'print what was done as JSON')
    .action((old: string, by: string | undefined, options: Options) => {
      if ((by === undefined) !== (options.undo === true)) {
        throw new UsageError('give the id of the new memory, or --undo')
      }
      return withMemory(context, options, async (producer, { print, printJson }) => {
        const payload = { memory_id: old, by: by ?? null }
        const result = await askMemory(producer, 'supersede', payload)
        if (!result.done) throw new UsageError(result.message)
        printJson({ ...payload, changed: result.changed })
        const done = by === undefined ? `${old} stands for itself` : `${by} stands for ${old}`
        print(result.changed ? done : `nothing to do: ${done} already`)
      })
    })
}
