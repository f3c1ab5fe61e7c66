import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256 } from '../../../shared/contracts/ids.ts'

/** In the environment of every process that a test run starts; daemons inherit it too. */
export const MARK_VARIABLE = 'ASTRA_TEST_MARK'

/** Rounds of looking for processes that were forked while others were being killed. */
const KILL_ROUNDS = 50

/** How long killed processes are waited for; one that hangs in the kernel cannot be. */
const DEATH_MS = 5_000

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
 * wherever that went: a daemon in a session of its own has left the group. Resolves once they are
 * dead, which takes a process with much memory a while. Where there is no /proc, only the group.
 */
export async function killTree(rootPid: number, mark: string): Promise<void> {
  const descendants = descendantsOf(rootPid).map(killed)
  kill(-rootPid)
  await killMarked((found) => found === mark)
  await dead(descendants)
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
  const victims: Victim[] = []
  for (let round = 0; round < KILL_ROUNDS; round += 1) {
    const pids = allPids().filter((pid) => {
      const mark = markOf(pid)
      return mark !== null && isWanted(mark)
    })
    if (pids.length === 0) break
    victims.push(...pids.map(killed))
    await sleep(5)
  }
  await dead(victims)
  return new Set(victims.map(({ pid }) => pid)).size
}

/** A process that was told to die; its start tells it from a later one with the same pid. */
type Victim = { pid: number; startedAt: string | null }

function killed(pid: number): Victim {
  const victim = { pid, startedAt: startTicks(pid) }
  kill(pid)
  return victim
}

/** Resolves when all are gone or wait to be reaped, and at the latest after DEATH_MS. */
async function dead(victims: readonly Victim[]): Promise<void> {
  const end = Date.now() + DEATH_MS
  while (victims.some(isDying) && Date.now() < end) await sleep(5)
}

function isDying({ pid, startedAt }: Victim): boolean {
  const state = statField(pid, 3)
  return state !== null && !'ZX'.includes(state) && startTicks(pid) === startedAt
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

/** A field of /proc/PID/stat by its number in proc(5), from the third on. */
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
