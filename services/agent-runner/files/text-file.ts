import { openConfined, PathRefused } from './confined.ts'

/** The largest file that is read, in bytes. */
export const MAX_FILE_BYTES = 512 * 1024

/** The text of a file, a byte order mark included. Throws PathRefused for what is not UTF-8 text. */
export async function readText(root: string, path: string): Promise<string> {
  const handle = await openConfined(root, path)
  try {
    const { size } = await handle.stat()
    if (size > MAX_FILE_BYTES) {
      throw new PathRefused(`${path} has ${size} bytes; at most ${MAX_FILE_BYTES} can be read`)
    }
    return decode(await handle.readFile(), path)
  } finally {
    await handle.close()
  }
}

function decode(bytes: Buffer, path: string): string {
  if (bytes.includes(0)) throw new PathRefused(`${path} is a binary file`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new PathRefused(`${path} is not UTF-8 text`, { cause: error })
  }
}
