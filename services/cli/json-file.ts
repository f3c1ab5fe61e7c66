import { access, constants, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../../shared/errors.ts'

/** Fails before an experiment begins rather than with its result in hand. Throws UsageError. */
export async function checkJsonFile(path: string): Promise<void> {
  await access(dirname(path), constants.W_OK).catch((cause) => {
    throw new UsageError(`cannot write ${path}: its folder is missing or not writable`, { cause })
  })
}

export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, null, 2)}\n`)
}
