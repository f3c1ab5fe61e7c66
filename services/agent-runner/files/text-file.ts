import { PathRefused, readConfined } from './confined.ts'

/** The largest file that is read or made, in bytes. */
export const MAX_FILE_BYTES = 512 * 1024

/** The text of a file, a byte order mark included. Throws PathRefused for what is not UTF-8 text. */
export async function readText(root: string, path: string): Promise<string> {
  const file = await readConfined(root, path, MAX_FILE_BYTES)
  switch (file.kind) {
    case 'no_regular_file':
      throw new PathRefused(`${path} is not a regular file`)
    case 'too_large':
      throw new PathRefused(`${path} has ${file.size} bytes; at most ${MAX_FILE_BYTES} can be read`)
    case 'file':
      return decode(file.bytes, path)
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
