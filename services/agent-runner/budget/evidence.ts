import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Lines of another length could be mixed with those of another process. */
const MAX_LINE_BYTES = 4096

/** The append-only files `ASTRA_HOME/ledger/DAY.jsonl`. Several processes may write at once. */
export type Evidence = {
  /** Resolves when the line is on the disk. Throws when it may not be; it can be there all the same. */
  append(day: string, line: string): Promise<void>
}

/**
 * Each line is one O_APPEND write, which a local file system does not mix with another's (a network
 * file system may). Lines that come while others are being written share the next fsync.
 */
export function openEvidence(home: string): Evidence {
  const folder = join(home, 'ledger')
  let last: Promise<void> = Promise.resolve()
  let next: { lines: { day: string; line: string }[]; written: Promise<void> } | null = null

  async function writeBatch(lines: { day: string; line: string }[]): Promise<void> {
    for (const [day, some] of Map.groupBy(lines, (each) => each.day)) {
      await appendLines(
        join(folder, `${day}.jsonl`),
        some.map((each) => each.line),
      )
    }
  }

  function nextBatch() {
    const lines: { day: string; line: string }[] = []
    const begin = () => {
      next = null
      return writeBatch(lines)
    }
    // A batch that failed has told its own callers; the one behind it tries anew.
    last = last.then(begin, begin)
    return { lines, written: last }
  }

  return {
    append(day, line) {
      next ??= nextBatch()
      next.lines.push({ day, line })
      return next.written
    },
  }
}

async function appendLines(path: string, lines: string[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path, 'a+')
  try {
    const { size } = await file.stat()
    // What a full disk cut off must not swallow the line behind it.
    if (size > 0 && !(await endsWithLineFeed(file, size))) await file.write('\n')
    for (const line of lines) {
      const bytes = Buffer.from(`${line}\n`)
      if (bytes.length > MAX_LINE_BYTES) throw new Error('a ledger line is too long to be appended')
      const { bytesWritten } = await file.write(bytes)
      if (bytesWritten < bytes.length) throw new Error(`${path}: a line was cut off`)
    }
    await file.datasync()
    if (size === 0) await syncFolder(dirname(path))
  } finally {
    await file.close()
  }
}

async function endsWithLineFeed(
  file: Awaited<ReturnType<typeof open>>,
  size: number,
): Promise<boolean> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer.toString() === '\n'
}

/** A new file is there after a power cut only when its folder says so. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
