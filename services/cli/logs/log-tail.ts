import { type FileHandle, open, stat } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'

const CHUNK_BYTES = 65_536
/** Of a longer line only the beginning is kept. */
const MAX_LINE = 1_000_000

/** The lines of one log that were not read yet, over its rotations. */
export class LogTail {
  readonly #path: string
  #handle: FileHandle | null = null
  #position = 0
  #rest = ''
  #decoder = new StringDecoder()

  constructor(path: string) {
    this.#path = path
  }

  /** Each complete line that was added since the last time; from the start the first time. */
  async *newLines(): AsyncGenerator<string> {
    yield* this.#read()
    if (!(await this.#isReplaced())) return
    // What came last before the log was put aside.
    yield* this.#read()
    yield* this.endLine()
    await this.close()
    yield* this.#read()
  }

  /** What stands after the last line break, once: nothing more is written there. */
  *endLine(): Generator<string> {
    if (this.#rest !== '') yield this.#rest
    this.#rest = ''
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = null
    this.#position = 0
  }

  async *#read(): AsyncGenerator<string> {
    this.#handle ??= await open(this.#path).catch(() => null)
    if (!this.#handle) return
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (;;) {
      const { bytesRead } = await this.#handle.read(chunk, 0, CHUNK_BYTES, this.#position)
      if (bytesRead === 0) return
      this.#position += bytesRead
      const lines = (this.#rest + this.#decoder.write(chunk.subarray(0, bytesRead))).split('\n')
      this.#rest = (lines.pop() ?? '').slice(0, MAX_LINE)
      yield* lines
    }
  }

  /** Put aside or emptied: from now on it is another file. */
  async #isReplaced(): Promise<boolean> {
    if (!this.#handle) return false
    const now = await stat(this.#path).catch(() => null)
    if (!now) return false
    return now.ino !== (await this.#handle.stat()).ino || now.size < this.#position
  }
}
