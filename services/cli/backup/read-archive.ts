import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream, WritableStream } from 'node:stream/web'
import { createZstdDecompress } from 'node:zlib'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { z } from 'zod'
import { sha256 } from '../../../shared/contracts/ids.ts'
import { errorText, UsageError } from '../../../shared/errors.ts'
import {
  BACKUP_FORMAT,
  type BackupManifest,
  type BackupPart,
  MANIFEST_NAME,
  manifestSchema,
  SEAL_NAME,
} from './manifest.ts'

const MAX_MANIFEST_BYTES = 500_000_000

/** `id` names the backup: the hash of its manifest, and with it of all its parts. */
export type UnpackedBackup = { manifest: BackupManifest; id: string }

/**
 * Puts the parts of a backup into `folder` and checks each against the manifest: names, sizes and
 * hashes. Throws UsageError that says what is wrong with the file.
 */
export async function readArchive(
  file: string,
  folder: string,
  interrupted: AbortSignal,
): Promise<UnpackedBackup> {
  const entries = entriesOf(file, interrupted)
  try {
    const first = (await entries.next()).value
    if (first?.header.name !== MANIFEST_NAME) throw new UsageError('it is no backup of Astra')
    const text = await textOf(first)
    const manifest = parseManifest(text)
    for (const part of manifest.parts) await unpack(part, (await entries.next()).value, folder)
    const id = sha256(text)
    await requireSeal((await entries.next()).value, id)
    const more = await entries.next()
    if (!more.done) throw unlisted(more.value)
    return { manifest, id }
  } catch (cause) {
    interrupted.throwIfAborted()
    const why = cause instanceof UsageError ? cause.message : `it is damaged: ${errorText(cause)}`
    throw new UsageError(`${file} cannot be restored: ${why}`, {
      hint: 'nothing was changed; use another backup',
      cause,
    })
  }
}

async function* entriesOf(
  file: string,
  interrupted: AbortSignal,
): AsyncGenerator<ParsedTarEntry, undefined> {
  const decoder = createTarDecoder({ strict: true })
  const unpacked = createZstdDecompress()
  const reading = pipeline(createReadStream(file), unpacked, { signal: interrupted })
  // Told through the entries, which end with the same error.
  reading.catch(() => {})
  const tar = Readable.toWeb(unpacked) as ReadableStream<Uint8Array>
  const entries = tar.pipeThrough({
    readable: decoder.readable as ReadableStream<ParsedTarEntry>,
    writable: decoder.writable as WritableStream<Uint8Array>,
  })
  for await (const entry of entries) yield entry
  await reading
}

const bytesOf = ({ body }: ParsedTarEntry) => Readable.fromWeb(body as ReadableStream<Uint8Array>)

async function textOf(entry: ParsedTarEntry): Promise<string> {
  if (entry.header.size > MAX_MANIFEST_BYTES) throw new UsageError('its manifest is too large')
  const chunks: Uint8Array[] = []
  for await (const chunk of bytesOf(entry)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const unlisted = ({ header }: ParsedTarEntry) =>
  new UsageError(`it holds ${header.name}, which it does not list`)

/** The last entry: who has it has all of the file, and a manifest that was not altered. */
async function requireSeal(entry: ParsedTarEntry | undefined, id: string): Promise<void> {
  if (!entry) throw new UsageError('it is damaged: it lost its end')
  if (entry.header.name !== SEAL_NAME) throw unlisted(entry)
  if ((await textOf(entry)) !== id) throw new UsageError('it is damaged: its manifest was altered')
}

function parseManifest(text: string): BackupManifest {
  const read = z.looseObject({ format: z.number(), product_version: z.string() })
  const named = read.parse(JSON.parse(text))
  if (named.format > BACKUP_FORMAT) {
    throw new UsageError(
      `its format is ${named.format}, of Astra ${named.product_version}, and this program ` +
        `reads up to ${BACKUP_FORMAT}: update the program`,
    )
  }
  return manifestSchema.parse(JSON.parse(text))
}

async function unpack(
  part: BackupPart,
  entry: ParsedTarEntry | undefined,
  folder: string,
): Promise<void> {
  if (entry?.header.name !== part.name) {
    throw new UsageError(`it is damaged: ${part.name} is missing`)
  }
  const target = join(folder, part.name)
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  const hash = createHash('sha256')
  let bytes = 0
  const count = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.length
      hash.update(chunk)
      done(
        bytes > part.bytes ? new UsageError(`it is damaged: ${part.name} is too long`) : null,
        chunk,
      )
    },
  })
  const output = createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true })
  await pipeline(bytesOf(entry), count, output)
  if (bytes !== part.bytes || hash.digest('hex') !== part.sha256) {
    throw new UsageError(`it is damaged: ${part.name} does not have the hash of the manifest`)
  }
}
