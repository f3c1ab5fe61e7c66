import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { packTar } from 'modern-tar/fs'
import { sha256 } from '../../../shared/contracts/ids.ts'
import { errorText, UnavailableError } from '../../../shared/errors.ts'
import { type BackupManifest, MANIFEST_NAME, SEAL_NAME } from './manifest.ts'

type Written = { manifest: BackupManifest; parts: string; interrupted: AbortSignal }

/**
 * Writes the manifest and its parts, which lie in the folder `parts`, as a tar in zstd.
 * The file is there as a whole, on the disk, or not at all.
 */
export async function writeArchive(file: string, written: Written): Promise<void> {
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  try {
    const output = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true })
    await compressed(written, output)
    await rename(partial, file)
    await flushFolder(dirname(file))
  } catch (cause) {
    await rm(partial, { force: true })
    written.interrupted.throwIfAborted()
    throw new UnavailableError(`cannot write ${file}: ${errorText(cause)}`, { cause })
  }
}

/** The same to stdout: a reader that got only a part of it notices. */
export async function streamArchive(written: Written): Promise<void> {
  await compressed(written, process.stdout)
}

async function compressed(
  { manifest, parts, interrupted }: Written,
  output: NodeJS.WritableStream,
): Promise<void> {
  const modified = new Date(manifest.created_at)
  const text = `${JSON.stringify(manifest, null, 2)}\n`
  const content = (target: string, content: string) =>
    ({ type: 'content', target, content, mode: 0o600, mtime: modified }) as const
  const archive = packTar([
    content(MANIFEST_NAME, text),
    ...manifest.parts.map(({ name }) => ({
      type: 'file' as const,
      target: name,
      source: join(parts, name),
      mode: 0o600,
      mtime: modified,
    })),
    content(SEAL_NAME, sha256(text)),
  ])
  const isStdout = output === process.stdout
  await pipeline(archive, createZstdCompress(), output, { signal: interrupted, end: !isStdout })
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
