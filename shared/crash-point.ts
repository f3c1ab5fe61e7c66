import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Every place at which a process can be made to die, for fault tests: between any two of its effects.
 * `ASTRA_CRASH_AT` names some of them, separated by commas; each kills one process once, the first
 * that comes by (`name@3`: the third time that a process comes by).
 */
export const crashPoints = [
  'agent.start-journalled',
  'agent.flow-added',
  'agent.job-journalled',
  'agent.object-written',
  'agent.edit-journalled',
  'agent.output-journalled',
  'agent.hold-taken',
  'agent.sent-journalled',
  'agent.background-journalled',
  'agent.answer-received',
  'agent.response-journalled',
  'agent.settled',
  'agent.result-delivered',
  'agent.wake-added',
  'agent.end-journalled',
  'agent.outcome-added',
  'agent.transcript-written',
  'agent.view-published',
  'tests.copied',
  'tests.finished',
  'tests.verified',
  'memory.embedded',
  'memory.upserted',
  'memory.superseded',
  'memory.stored',
  'memory.outcome-counted',
  'embedder.embedded',
] as const

/** Those of `astra restore`, which no run comes by. */
export const restoreCrashPoints = [
  'restore.ready',
  'restore.decided',
  'restore.moved-aside',
  'restore.part-placed',
] as const

export type CrashPoint = (typeof crashPoints)[number] | (typeof restoreCrashPoints)[number]

const known = [...crashPoints, ...restoreCrashPoints]
const wanted = new Map<string, number>()
const passed = new Map<string, number>()
let markers = ''

/** Reads `ASTRA_CRASH_AT`; without it a crash point costs one look-up in an empty map. */
export function armCrashPoints(setting: string | undefined, home: string): void {
  for (const each of (setting ?? '').split(',').filter(Boolean)) {
    const [name = '', nth = '1'] = each.split('@')
    if (!(known as readonly string[]).includes(name)) {
      throw new Error(`ASTRA_CRASH_AT: there is no crash point ${name}`)
    }
    wanted.set(name, Number(nth))
  }
  markers = join(home, 'run', 'crashed')
}

/** Dies here, as by kill -9, when that was asked for and has not happened yet. */
export function crashPoint(name: CrashPoint): void {
  const nth = wanted.get(name)
  if (nth === undefined) return
  const times = (passed.get(name) ?? 0) + 1
  passed.set(name, times)
  if (times !== nth || !claim(name)) return
  process.kill(process.pid, 'SIGKILL')
  // The signal is on its way; nothing more may happen here.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** One process of the installation dies at a point, not each that comes by. */
function claim(name: string): boolean {
  try {
    mkdirSync(markers, { recursive: true })
    writeFileSync(join(markers, name), String(process.pid), { flag: 'wx' })
    return true
  } catch {
    return false
  }
}
