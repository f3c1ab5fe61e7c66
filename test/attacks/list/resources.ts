import { tmpdir } from 'node:os'
import type { Attack, Evidence } from '../attack.ts'
import { limits, notTried, notUnusable } from '../attack.ts'
import { filesOf } from '../host.ts'

const PLACES = ['copy', 'tmp', 'shm', 'home']

export const resourceAttacks: Attack[] = [
  {
    name: 'a gigabyte of output is cut off at the limit',
    stoppedBy: 'limit of output',
    project: 'endless-output',
    limits: { outputBytes: 100_000 },
    reached: (evidence) => [
      ...notUnusable(evidence, 'tests_output_limit'),
      ...(evidence.output.length > 100_000 ? ['more was kept'] : []),
    ],
  },
  {
    name: 'one file cannot fill copy, /tmp, /dev/shm or HOME over the limit, and never the machine',
    stoppedBy: 'sized file systems of its own',
    project: 'full-disk-one-file',
    limits: { memoryMb: 2_000 },
    harmless: true,
    reached: async (evidence) => [
      ...notTried(evidence, PLACES),
      ...PLACES.flatMap((place) => overLimit(evidence, place)),
    ],
  },
  {
    name: 'many files cannot fill copy, /tmp, /dev/shm and HOME over the limit, and never the machine',
    stoppedBy: 'sized file systems of its own',
    project: 'full-disk-many-files',
    limits: { memoryMb: 2_000 },
    reached: async (evidence) => [
      ...notTried(evidence, PLACES),
      ...PLACES.flatMap((place) => overLimit(evidence, place)),
      ...(await filesOf(evidence.mark, [tmpdir(), '/tmp', '/dev/shm'])),
    ],
  },
  {
    name: 'files that live in memory count as memory',
    stoppedBy: 'control group or watch of files',
    project: 'full-files',
    limits: { memoryMb: 160 },
    reached: (evidence) => notUnusable(evidence, 'tests_memory_limit'),
  },
  {
    name: 'files that live in memory count as memory where no control group can be made',
    stoppedBy: 'watch of files',
    project: 'full-files',
    limits: { memoryMb: 160 },
    within: 'no control groups',
    reached: (evidence) => notUnusable(evidence, 'tests_memory_limit'),
  },
]

/** A limit in megabytes, and what the copy itself takes. */
function overLimit({ tried }: Evidence, place: string): string[] {
  const size = Number(tried.get(place)?.said)
  return size <= limits.diskMb + 1 ? [] : [`${size} MB were written to ${place}`]
}
