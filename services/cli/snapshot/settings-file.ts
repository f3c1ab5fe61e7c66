import { readRegularFile } from '../../../shared/confined-folder.ts'

/** Far more than any of these files holds. */
const MAX_BYTES = 10_000_000

/**
 * The text of a small file that says how a workspace is to be read; null when there is none. A link
 * is not followed, as git does not, and a FIFO of that name hangs nobody.
 */
export async function readSettingsFile(folder: string, name: string): Promise<string | null> {
  const file = await readRegularFile(folder, [name], MAX_BYTES).catch(() => null)
  return file?.kind === 'file' ? file.bytes.toString('utf8') : null
}
