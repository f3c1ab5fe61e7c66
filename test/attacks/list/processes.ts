import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack, Evidence } from '../attack.ts'
import { limits, notRefused, notTried, notUnusable } from '../attack.ts'
import { processesOf } from '../host.ts'

/** How many more than the limit may be seen while one is being counted out: the sandbox's own. */
const SPARE = 8
/** How soon a process must start that has nothing to do with the tests. */
const USABLE_MS = 2_000

const alive = async ({ mark }: Evidence) => {
  const pids = await processesOf(mark)
  return pids.length > 0 ? [`still alive afterwards: ${pids.join()}`] : []
}

export const processAttacks: Attack[] = [
  {
    name: 'a daemon in a session of its own that ignores signals does not outlive the tests',
    stoppedBy: 'process namespace: its end kills all in it',
    project: 'daemon',
    harmless: true,
    reached: async (evidence) => [...notTried(evidence, ['daemon']), ...(await alive(evidence))],
  },
  {
    name: 'a fork bomb stays within the limit of processes and ends with the tests',
    stoppedBy: 'limit of processes, then the process namespace',
    project: 'fork-bomb',
    needs: ['perl'],
    limits: { seconds: 5 },
    watch: watchBomb,
    reached: async (evidence) => [...notTried(evidence, ['bomb']), ...(await alive(evidence))],
  },
  {
    name: 'memory without end is stopped by the control group, or by the watch where there is none',
    stoppedBy: 'control group or watch of resident memory',
    project: 'memory-bomb',
    reached: memoryHeld,
  },
  {
    name: 'memory without end is stopped where no control group can be made',
    stoppedBy: 'watch of resident memory',
    project: 'memory-bomb',
    within: 'no control groups',
    reached: memoryHeld,
  },
  {
    name: 'shared memory without end is stopped',
    stoppedBy: 'control group or watch of resident memory',
    project: 'shared-memory-bomb',
    needs: ['python'],
    reached: memoryHeld,
  },
  {
    name: 'shared memory without end is stopped where no control group can be made',
    stoppedBy: 'watch of resident memory',
    project: 'shared-memory-bomb',
    needs: ['python'],
    within: 'no control groups',
    reached: memoryHeld,
  },
  {
    name: 'memory without end that no process maps is stopped by the control group',
    stoppedBy: 'control group',
    project: 'unmapped-memory-bomb',
    needs: ['python', 'control groups'],
    reached: memoryHeld,
  },
  {
    name: 'memory that no process maps goes with the run where no control group can be made',
    stoppedBy: 'end of the run',
    notExcludable:
      'without a control group the kernel does not say who holds memory that no process maps; it is free again when the run ends',
    project: 'unmapped-memory-bomb',
    needs: ['python'],
    within: 'no control groups',
    reached: ({ result }) =>
      'kind' in result && result.kind === 'green' ? [] : ['it was stopped: then say so'],
  },
  {
    name: 'empty files without end are stopped, as they take memory of the kernel',
    stoppedBy: 'control group or watch of files',
    project: 'empty-files',
    limits: { memoryMb: 200 },
    reached: memoryHeld,
  },
  {
    name: 'empty files without end are stopped where no control group can be made',
    stoppedBy: 'watch of files',
    project: 'empty-files',
    limits: { memoryMb: 200 },
    within: 'no control groups',
    reached: memoryHeld,
  },
  {
    name: 'processes of the machine are not seen, read or killed',
    stoppedBy: 'process namespace',
    project: 'processes',
    reached: (evidence) => [
      ...notRefused(evidence, ['see', 'memory']),
      ...(evidence.tried.has('kill') ? [] : ['kill was not tried']),
      ...(evidence.scene.victim.exitCode === null && evidence.scene.victim.signalCode === null
        ? []
        : ['the victim was killed']),
    ],
  },
]

function memoryHeld(evidence: Evidence): string[] {
  return [
    ...notUnusable(evidence, 'tests_memory_limit'),
    ...(evidence.output.includes('tried 900 MB: done') ? ['it held three times the limit'] : []),
  ]
}

/** The most processes that a bomb had, and whether others can still start some. */
async function watchBomb(_scene: unknown, mark: string, ended: AbortSignal): Promise<string[]> {
  let most = 0
  while (!ended.aborted) {
    const started = performance.now()
    await once(spawn('true'), 'exit')
    const ms = performance.now() - started
    if (ms > USABLE_MS) return [`a process of the machine took ${ms} ms to start`]
    most = Math.max(most, (await processesOf(mark)).length)
    await sleep(20)
  }
  if (most > limits.processes + SPARE) return [`${most} processes at once`]
  // Far from the limit it was no bomb.
  return most < limits.processes / 4 ? [`no more than ${most} processes at once`] : []
}
