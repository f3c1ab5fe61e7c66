import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Astra } from '../support/astra.ts'

export type OwnProcess = { pid: number; command: string }

/**
 * Sends a signal, if that process belongs to the installation: pids are used again, and a foreign
 * process must never be hit. False when it did not.
 */
export function signalOwn({ home }: Pick<Astra, 'home'>, pid: number, signal: NodeJS.Signals) {
  if (!belongsTo(pid, [home])) return false
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}

/** Every process that was started for one of `folders`: by its environment, arguments or place. */
export function processesOf(folders: readonly string[]): OwnProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && belongsTo(pid, folders))
    .map((pid) => ({ pid, command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() }))
}

/** The value of a variable in the environment that a process was started with. */
export function variableOf(pid: number, name: string): string | undefined {
  const line = read(`/proc/${pid}/environ`)
    .split('\0')
    .find((each) => each.startsWith(`${name}=`))
  return line?.slice(name.length + 1)
}

/** A zombie has neither environment nor arguments, so it belongs to nobody. */
function belongsTo(pid: number, folders: readonly string[]): boolean {
  const place = [read(`/proc/${pid}/environ`), read(`/proc/${pid}/cmdline`), workingFolder(pid)]
  return folders.some((folder) => place.some((text) => text.includes(folder)))
}

/** '' when the process is gone or is another user's. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function workingFolder(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}
