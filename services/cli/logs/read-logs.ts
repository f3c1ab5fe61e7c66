import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type LogEntry, type LogLevel, logLevels, parseLogLine } from './log-entry.ts'
import { LogTail } from './log-tail.ts'

/** What has to hold of a line. */
export type LogFilter = {
  /** A service, with all its processes, or one process such as `embedder-2`. */
  service: string | null
  since: Date | null
  level: LogLevel
  run: string | null
}

const LOG = /^([\w-]+)\.log$/

/** The names of the processes that have a log. */
export async function logNames(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(() => [])
  return files.flatMap((file) => LOG.exec(file)?.[1] ?? []).sort()
}

export function isOfService(process: string, service: string | null): boolean {
  return service === null || process === service || process.replace(/-\d+$/, '') === service
}

/** All logs of a folder, as they grow. */
export class LogReader {
  readonly #folder: string
  readonly #filter: LogFilter
  readonly #tails = new Map<string, { tail: LogTail; time: string | null }>()

  constructor(folder: string, filter: LogFilter) {
    this.#folder = folder
    this.#filter = filter
  }

  /** What is there: the last `max` lines that fit, by time, also of what was put aside. */
  async present(max: number): Promise<LogEntry[]> {
    const entries: LogEntry[] = []
    for (const name of await this.#names()) {
      const older = { tail: new LogTail(join(this.#folder, `${name}.log.1`)), time: null }
      const kept = new LastOnes<LogEntry>(max)
      for await (const entry of this.#entries(name, older)) kept.add(entry)
      await older.tail.close()
      for await (const entry of this.#entries(name, this.#tailOf(name))) kept.add(entry)
      entries.push(...kept.all)
    }
    return byTime(entries).slice(-max)
  }

  /** What came since the last call, also in logs that are new. */
  async added(): Promise<LogEntry[]> {
    const entries: LogEntry[] = []
    for (const name of await this.#names()) {
      for await (const entry of this.#entries(name, this.#tailOf(name))) entries.push(entry)
    }
    return byTime(entries)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#tails.values()].map(({ tail }) => tail.close()))
  }

  async #names(): Promise<string[]> {
    const names = await logNames(this.#folder)
    return names.filter((name) => isOfService(name, this.#filter.service))
  }

  #tailOf(name: string) {
    const known = this.#tails.get(name)
    if (known) return known
    const added = { tail: new LogTail(join(this.#folder, `${name}.log`)), time: null }
    this.#tails.set(name, added)
    return added
  }

  async *#entries(
    name: string,
    log: { tail: LogTail; time: string | null },
  ): AsyncGenerator<LogEntry> {
    for await (const line of log.tail.newLines()) {
      if (line.trim() === '') continue
      const entry = parseLogLine(name, line, log.time)
      log.time = entry.time
      if (this.#fits(entry)) yield entry
    }
  }

  #fits({ level, run_id, time }: LogEntry): boolean {
    const { since, level: least, run } = this.#filter
    if (logLevels.indexOf(level) < logLevels.indexOf(least)) return false
    if (run !== null && run_id !== run) return false
    return since === null || (time !== null && time >= since.toISOString())
  }
}

/** Lines of one log stay in their order. */
function byTime(entries: LogEntry[]): LogEntry[] {
  return entries.sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : a.time === b.time ? 0 : 1))
}

/** A log may hold far more than anybody asked for. */
class LastOnes<T> {
  readonly #max: number
  #items: T[] = []

  constructor(max: number) {
    this.#max = max
  }

  get all(): T[] {
    return this.#items.slice(-this.#max)
  }

  add(item: T): void {
    this.#items.push(item)
    if (this.#items.length >= 2 * this.#max) this.#items = this.#items.slice(-this.#max)
  }
}
