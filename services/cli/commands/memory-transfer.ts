import type { Command } from 'commander'
import { UsageError } from '../../../shared/errors.ts'
import { secretsOf } from '../../../shared/scrub/known-secrets.ts'
import { createScrubber } from '../../../shared/scrub/scrubber.ts'
import type { CliContext } from '../context.ts'
import { createTerminal, oneLine, type Terminal } from '../format/terminal.ts'
import { exportMemory } from '../transfer/export-memory.ts'
import { type Imported, importMemory } from '../transfer/import-memory.ts'
import { withServices } from '../with-services.ts'

type ExportOptions = { vectors?: boolean; json?: boolean }
type ImportOptions = { json?: boolean }

const SOME_LEFT_OUT = 3
/** Refused lines that are printed; `--json` has all. */
const SHOWN = 50

export function addTransferCommands(memory: Command, context: CliContext): void {
  memory
    .command('export <file>')
    .description('write all records to a file of JSON lines, `-`: to stdout')
    .option('--vectors', 'with their vectors, which an import makes anew otherwise')
    .option('--json', 'print what was done as JSON; not with `-`')
    .action((file: string, options: ExportOptions) => runExport(context, file, options))
  memory
    .command('import <file>')
    .description('take in the records of such a file, `-`: of stdin')
    .option('--json', 'print what was done as JSON')
    .action((file: string, options: ImportOptions) => runImport(context, file, options))
}

async function runExport(
  context: CliContext,
  file: string,
  { vectors = false, json = false }: ExportOptions,
): Promise<void> {
  if (file === '-' && json) {
    throw new UsageError('--json and the records cannot both go to stdout: name a file')
  }
  const terminal = createTerminal({ json })
  const target = { file: file === '-' ? null : context.path(file), vectors }
  const { exported, unreadable } = await withServices(
    context.config(),
    context,
    terminal.note,
    (services) => {
      const progress = everySecond((records: number) => `${records} records`, terminal)
      return exportMemory(services, target, progress)
    },
  )
  terminal.printJson({ file, exported, unreadable })
  for (const id of unreadable) terminal.note(`cannot be read: ${id}`)
  terminal.note(`exported ${exported} records${file === '-' ? '' : ` to ${file}`}`)
  if (unreadable.length > 0) process.exitCode = SOME_LEFT_OUT
}

async function runImport(context: CliContext, file: string, options: ImportOptions): Promise<void> {
  const terminal = createTerminal(options)
  const config = context.config()
  const scrub = createScrubber(secretsOf(config))
  const source = { file: file === '-' ? null : context.path(file), scrub }
  const sum = await withServices(config, context, terminal.note, (services) => {
    const words = ({ imported, present }: Imported) => `${imported} imported, ${present} there`
    return importMemory(services, source, everySecond(words, terminal))
  })
  terminal.printJson(sum)
  printImported(terminal, sum)
  if (sum.refused.length > 0) process.exitCode = SOME_LEFT_OUT
}

function printImported({ print }: Terminal, sum: Imported): void {
  for (const { line, message } of sum.refused.slice(0, SHOWN)) {
    print(`line ${line} refused: ${oneLine(message, 300)}`)
  }
  const more = sum.refused.length - SHOWN
  if (more > 0) print(`and ${more} more lines: --json lists all`)
  const { imported, unproved, present, refused } = sum
  print(
    `${imported} imported, ${unproved} of them unproved; ${present} were there; ` +
      `${refused.length} refused`,
  )
}

function everySecond<T>(words: (state: T) => string, { note }: Terminal): (state: T) => void {
  let last = Date.now()
  return (state) => {
    if (Date.now() - last < 1000) return
    last = Date.now()
    note(words(state))
  }
}
