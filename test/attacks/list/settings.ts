import type { Attack } from '../attack.ts'
import { notRefused, notTried, notUnusable } from '../attack.ts'
import { filesOf } from '../host.ts'

export const settingAttacks: Attack[] = [
  {
    name: 'a setting of .astra.json that asks for no sandbox is refused',
    stoppedBy: '.astra.json knows no such setting',
    project: 'astra-json-key',
    reached: (evidence) => notUnusable(evidence, 'no_tests_found', 'sandbox'),
  },
  {
    name: 'variables of .astra.json and .env that ask for no sandbox change nothing',
    stoppedBy: 'only the command line of the test-runner can do that',
    project: 'sandbox-off',
    harmless: true,
    reached: (evidence) => notRefused(evidence, ['key in a home folder']),
  },
  {
    name: 'variables that a script of package.json sets act inside the sandbox alone',
    stoppedBy: 'variables of a command are set last, inside',
    project: 'script-environment',
    harmless: true,
    reached: async (evidence) => [
      ...notRefused(evidence, ['outside']),
      ...(await filesOf(evidence.mark, [evidence.scene.known.astraHome])),
    ],
  },
  {
    name: 'a PATH that a script of package.json sets puts no program in place of the sandbox',
    stoppedBy: 'variables of a command are set last, inside',
    project: 'script-programs',
    harmless: true,
    reached: (evidence) => notRefused(evidence, ['limit of processes']),
  },
  {
    name: 'tests cannot poison the build cache of Go',
    stoppedBy: 'the cache is mounted read-only while tests run',
    project: 'go-cache',
    needs: ['go'],
    limits: { memoryMb: 2_000, diskMb: 512, processes: 512, seconds: 60 },
    reached: (evidence) => [
      ...notTried(evidence, ['look']),
      ...notRefused(evidence, ['new entry', 'beside the entries', 'rewrite']),
    ],
  },
]
