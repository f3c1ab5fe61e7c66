import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import { UsageError } from '../../../shared/errors.ts'
import type { BackupManifest } from '../backup/manifest.ts'
import { takeBackup } from '../backup/take-backup.ts'
import type { CliContext } from '../context.ts'
import { createTerminal, type Terminal } from '../format/terminal.ts'
import { withServices } from '../with-services.ts'

type Options = { keys: boolean; json?: boolean }

export function addBackupCommand(program: Command, context: CliContext): void {
  program
    .command('backup')
    .description('write memory, ledger, keys and ended runs to one file, while everything goes on')
    .argument('<file>', 'where to; `-`: to stdout')
    .option('--no-keys', 'leave the private signing key out; what it signed stays proved')
    .option('--json', 'print what is in it as JSON; not with `-`')
    .action((file: string, options: Options) => runBackup(context, file, options))
}

async function runBackup(
  context: CliContext,
  file: string,
  { keys, json = false }: Options,
): Promise<void> {
  if (file === '-' && json) {
    throw new UsageError('--json and the backup cannot both go to stdout: name a file')
  }
  if (file === '-' && process.stdout.isTTY) {
    throw new UsageError('a backup is no text for a terminal: name a file, or pipe it on')
  }
  const terminal = createTerminal({ json })
  const target = file === '-' ? null : context.path(file)
  const order = { file: target, signingKey: keys }
  let cleared: Promise<unknown> | undefined
  const manifest = await withServices(context.config(), context, terminal.note, (services) => {
    const taking = takeBackup(services, order, oncePerSecond(terminal))
    cleared = taking.catch(() => {})
    return taking
    // After an interrupt it still clears away what it began.
  }).finally(() => cleared)
  const bytes = target === null ? null : (await stat(target)).size
  terminal.printJson({ file: target, bytes, ...manifest })
  tell(terminal, manifest, target === null ? 'stdout' : `${target}, ${megabytes(bytes ?? 0)}`)
}

function tell({ note }: Terminal, manifest: BackupManifest, where: string): void {
  const { counts, created_at, signing_key } = manifest
  note(`backup of ${created_at} to ${where}`)
  note(`${counts.records} records, ${counts.runs} ended runs, ${counts.trusted_keys} trusted keys`)
  if (signing_key) note('with the private signing key: who has the file can sign receipts')
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

function oncePerSecond({ note }: Terminal): (line: string) => void {
  let last = Date.now()
  return (line) => {
    if (Date.now() - last < 1000) return
    last = Date.now()
    note(line)
  }
}
