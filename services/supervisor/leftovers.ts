import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** A process is known by its pid and start time together: pids are used again. */
type Known = { pid: number; startTime: string }

/**
 * Keeps on disk which processes this supervisor has, so that the next one can wait for them, and
 * end them if need be, after this one was killed.
 */
export class ProcessRegister {
  readonly #path: string
  readonly #known = new Map<string, Known>()

  constructor(path: string) {
    this.#path = path
  }

  add(name: string, pid: number): void {
    const startTime = startTimeOf(pid)
    if (startTime === null) return
    this.#known.set(name, { pid, startTime })
    this.#save()
  }

  delete(name: string): void {
    this.#known.delete(name)
    this.#save()
  }

  #save(): void {
    writeFileSync(this.#path, JSON.stringify([...this.#known.values()]), { mode: 0o600 })
  }
}

/**
 * Waits for the processes of a supervisor that died: they end by themselves when their channel
 * closes. What is still there after `graceMs` is killed.
 */
export async function endLeftovers(path: string, graceMs: number): Promise<number> {
  const left = readRegister(path).filter(isAlive)
  const deadline = Date.now() + graceMs
  while (left.some(isAlive) && Date.now() < deadline) await delay(20)
  for (const each of left.filter(isAlive)) process.kill(each.pid, 'SIGKILL')
  while (left.some(isAlive)) await delay(20)
  rmSync(path, { force: true })
  return left.length
}

/** The processes of a supervisor that died, as far as they still run. */
export function leftProcesses(path: string): number[] {
  return readRegister(path)
    .filter(isAlive)
    .map(({ pid }) => pid)
}

function readRegister(path: string): Known[] {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    // Missing, or cut off while it was written: nothing that can be known, so nothing to end.
    return []
  }
}

function isAlive({ pid, startTime }: Known): boolean {
  return startTimeOf(pid) === startTime
}

/** Clock ticks since boot at which `pid` started; null when it is gone or a zombie, or without /proc. */
function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in brackets and may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}
