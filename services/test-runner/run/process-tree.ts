import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256 } from '../../../shared/contracts/ids.ts'

/** In the environment of every process that a test run starts; daemons inherit it too. */
export const MARK_VARIABLE = 'ASTRA_TEST_MARK'

/** Rounds of looking for processes that were forked while others were being killed. */
const KILL_ROUNDS = 50

/**
 * Names this process among all test-runners: the installation, the pid and, because pids come
 * back, when the process started.
 */
export function ownerOf(home: string, pid: number): string {
  return `${sha256(home).slice(0, 12)}-${pid}-${startTicks(pid) ?? 0}`
}

/** A mark for the processes of one command. */
export function newMark(home: string): string {
  return `${ownerOf(home, process.pid)}-${randomBytes(8).toString('hex')}`
}

/** True when the mark's test-runner is of this installation and no longer there. */
export function isAbandoned(mark: string, home: string): boolean {
  const match = /^([0-9a-f]{12})-(\d+)-(\d+)-/.exec(mark)
  if (!match || match[1] !== sha256(home).slice(0, 12)) return false
  return !mark.startsWith(`${ownerOf(home, Number(match[2]))}-`)
}

/**
 * Kills a command's process group and everything that carries its mark or descends from it,
 * wherever that went: a daemon in a session of its own has left the group. Where there is no /proc,
 * only the group.
 */
export async function killTree(rootPid: number, mark: string): Promise<void> {
  const descendants = descendantsOf(rootPid)
  kill(-rootPid)
  for (const pid of descendants) kill(pid)
  await killMarked((found) => found === mark)
}

/** Kills a command's process group, which takes a sandbox with everything in it along. */
export async function killGroup(rootPid: number): Promise<void> {
  kill(-rootPid)
}

/** Kills what test-runners of this installation left behind when they were killed. */
export async function killAbandoned(home: string): Promise<number> {
  return killMarked((mark) => isAbandoned(mark, home))
}

async function killMarked(isWanted: (mark: string) => boolean): Promise<number> {
  let killed = 0
  for (let round = 0; round < KILL_ROUNDS; round += 1) {
    const pids = allPids().filter((pid) => {
      const mark = markOf(pid)
      return mark !== null && isWanted(mark)
    })
    if (pids.length === 0) break
    for (const pid of pids) kill(pid)
    killed += pids.length
    await sleep(5)
  }
  return killed
}

function allPids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== process.pid)
  } catch {
    return []
  }
}

function markOf(pid: number): string | null {
  const environment = readProc(pid, 'environ')
  const start = `${MARK_VARIABLE}=`
  const entry = environment?.split('\0').find((each) => each.startsWith(start))
  return entry?.slice(start.length) ?? null
}

function descendantsOf(root: number): number[] {
  const parents = new Map(allPids().map((pid) => [pid, Number(statField(pid, 4))]))
  const found = [root]
  for (const ancestor of found) {
    for (const [pid, parent] of parents) if (parent === ancestor) found.push(pid)
  }
  return found.slice(1)
}

function startTicks(pid: number): string | null {
  return statField(pid, 22)
}

/** A field of /proc/PID/stat by its number in proc(5), from the fourth on. */
function statField(pid: number, field: number): string | null {
  const stat = readProc(pid, 'stat')
  // The second field is the program's name in brackets and may hold spaces.
  return (
    stat
      ?.slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .at(field - 3) ?? null
  )
}

/** Null when the process is gone or belongs to someone else. */
function readProc(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return null
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
}
