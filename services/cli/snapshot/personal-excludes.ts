import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { personHomes } from './person-home.ts'
import { readSettingsFile } from './settings-file.ts'

/**
 * The ignore file that the person's own git configuration names, for all repositories; null when there
 * is none. A repository's configuration could name any file of the person's and is not asked.
 */
export async function readPersonalExcludes(): Promise<string | null> {
  const [home] = personHomes()
  if (home === undefined) return null
  const folder = join(home, '.config/git')
  // As for git, `~/.gitconfig` has the last word.
  const named =
    excludesFile((await readPersonal(join(home, '.gitconfig'))) ?? '') ??
    excludesFile((await readPersonal(join(folder, 'config'))) ?? '')
  return readPersonal(named === null ? join(folder, 'ignore') : inHome(home, named))
}

/** The person may well keep these files elsewhere and link to them. */
async function readPersonal(path: string): Promise<string | null> {
  const real = await realpath(path).catch(() => path)
  return readSettingsFile(dirname(real), basename(real))
}

const inHome = (home: string, path: string) => resolve(home, path.replace(/^~\//, ''))

function excludesFile(config: string): string | null {
  let section = ''
  let file: string | null = null
  for (const line of config.split(/\r?\n/)) {
    section = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)?.[1]?.toLowerCase() ?? section
    const value = /^\s*excludesfile\s*=\s*"?([^"]*?)"?\s*$/i.exec(line)?.[1]
    if (section === 'core' && value) file = value
  }
  return file
}
