import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConfigError } from '../../../shared/errors.ts'
import { randomId } from './sessions.ts'

const MIN_LENGTH = 32

/** The token of this installation's dashboard, made at its first start. Throws ConfigError. */
export async function readToken(home: string): Promise<string> {
  const file = join(home, 'dashboard', 'token')
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  try {
    await writeFile(file, `${randomId()}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const token = (await readFile(file, 'utf8')).trim()
  if (token.length < MIN_LENGTH) {
    throw new ConfigError(`${file} holds no token of ${MIN_LENGTH} characters or more`, {
      hint: 'delete the file, and the dashboard makes another at its next start',
    })
  }
  return token
}
