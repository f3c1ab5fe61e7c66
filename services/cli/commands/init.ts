import { realpath, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { UsageError } from '../../../shared/errors.ts'
import { writeFileAtomic } from '../../../shared/run-files.ts'
import type { CliContext } from '../context.ts'
import { createTerminal, oneLine } from '../format/terminal.ts'
import { foundCommands } from '../init/found-commands.ts'
import { settingsTemplate } from '../init/settings-template.ts'
import { findGitFolder } from '../snapshot/git-folder.ts'
import { listWorkspace } from '../snapshot/list-workspace.ts'

type Options = { force?: boolean; json?: boolean }

const MAX_FILES = 20_000

export function addInitCommand(program: Command, context: CliContext): void {
  program
    .command('init')
    .description('write a commented .astra.json with the test command that was found')
    .argument('[workspace]', 'the project', '.')
    .option('--force', 'put it in the place of one that is there')
    .option('--json', 'print what was found and written as JSON')
    .action((workspace: string, options: Options) =>
      init(context, context.path(workspace), options),
    )
}

async function init(context: CliContext, folder: string, options: Options): Promise<void> {
  const terminal = createTerminal(options)
  const workspace = await realFolder(folder)
  const { home } = context.config()
  const { force = false } = options
  const file = join(workspace, '.astra.json')
  // One that is broken, or leaves files out, must not decide what is found.
  if (force) await write(file, settingsTemplate([]), force)
  const git = await findGitFolder(workspace)
  const { files } = await listWorkspace(workspace, git, { home, maxFiles: MAX_FILES })
  const found = await foundCommands(workspace, files)
  await write(file, settingsTemplate(found), force)
  const commands = found.map(({ line }) => line)
  terminal.printJson({ file, commands })
  terminal.print(`wrote ${file}`)
  const names = commands.map((line) => oneLine(line, 80)).join(', ')
  terminal.print(commands.length > 0 ? `test commands: ${names}` : 'no test command was found')
  if (commands.length === 0) terminal.note('name it in the file, then `astra fix` can work')
}

async function realFolder(folder: string): Promise<string> {
  const real = await realpath(folder).catch(() => null)
  if (real !== null && (await stat(real)).isDirectory()) return real
  throw new UsageError(`there is no folder ${folder}`, { hint: 'name the folder of the project' })
}

async function write(file: string, text: string, force: boolean): Promise<void> {
  try {
    if (force) await writeFileAtomic(file, text)
    else await writeFile(file, text, { flag: 'wx' })
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST') {
      throw new UsageError(`${file} is there already; it was left as it is`, {
        hint: '--force puts a new one in its place',
        cause,
      })
    }
    throw new UsageError(`cannot write ${file}: ${message}`, { cause })
  }
}
