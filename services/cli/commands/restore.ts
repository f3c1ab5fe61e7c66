import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { armCrashPoints } from '../../../shared/crash-point.ts'
import { secretsOf } from '../../../shared/scrub/known-secrets.ts'
import { createScrubber } from '../../../shared/scrub/scrubber.ts'
import { STORE_RECORDS } from '../backup/manifest.ts'
import { type Restored, restoreBackup } from '../backup/restore-backup.ts'
import type { CliContext } from '../context.ts'
import { createTerminal, type Terminal } from '../format/terminal.ts'
import { type Imported, importMemory } from '../transfer/import-memory.ts'
import { withServices } from '../with-services.ts'

type Options = { force?: boolean; json?: boolean }

const SOME_LEFT_OUT = 3

export function addRestoreCommand(program: Command, context: CliContext): void {
  program
    .command('restore')
    .description('put a backup in place, as a whole or not at all')
    .argument('<file>', 'what `astra backup` has written')
    .option('--force', 'also where there is data already, which is kept aside')
    .option('--json', 'print what was done as JSON')
    .action((file: string, options: Options) => runRestore(context, file, options))
}

async function runRestore(
  context: CliContext,
  file: string,
  { force = false, json = false }: Options,
): Promise<void> {
  const terminal = createTerminal({ json })
  const config = context.config()
  const { env, interrupted } = context
  armCrashPoints(env.ASTRA_CRASH_AT, config.home)
  const order = { file: context.path(file), force, env, interrupted }
  const restored = await restoreBackup(config, order)
  const imported =
    restored.manifest.store.kind === 'records' ? await importRecords(context, terminal) : null
  const { manifest, replaced, spent } = restored
  const { created_at, counts } = manifest
  terminal.printJson({ file: order.file, created_at, counts, replaced, spent, imported })
  tell(terminal, restored)
  if (imported && imported.refused.length > 0) process.exitCode = SOME_LEFT_OUT
}

/** An import that is cut off is made again, from the file that is kept until all of it is in. */
async function importRecords(context: CliContext, terminal: Terminal): Promise<Imported> {
  const config = context.config()
  const file = join(config.home, STORE_RECORDS)
  const scrub = createScrubber(secretsOf(config))
  terminal.note(`importing; when this is cut off: astra memory import ${file}`)
  const imported = await withServices(config, context, terminal.note, (services) =>
    importMemory(services, { file, scrub }, () => {}),
  )
  for (const { line, message } of imported.refused) terminal.note(`line ${line}: ${message}`)
  if (imported.refused.length === 0) await rm(file)
  return imported
}

function tell({ print, note }: Terminal, { manifest, replaced }: Restored): void {
  const { created_at, counts } = manifest
  print(`restored the backup of ${created_at}`)
  print(`${counts.records} records, ${counts.runs} ended runs, ${counts.trusted_keys} trusted keys`)
  if (replaced !== null) note(`what was there before is in ${replaced}`)
}
