import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { takeSnapshot } from '../../../services/cli/snapshot/snapshot.ts'
import { exists } from '../../../services/test-runner/toolchains/toolchain.ts'
import type { Attack, Evidence } from '../attack.ts'
import { notRefused, notTried } from '../attack.ts'
import { filesOf } from '../host.ts'

const HOME_FILES = ['.bashrc', '.profile', '.ssh', '.npmrc', '.gitconfig', '.bash_history']
const OUTSIDE = [
  ...['root', 'usr', 'programs of the system', 'etc', 'dev', 'run', 'toolchain of this run'],
  ...['toolchain of the machine', 'ASTRA_HOME', 'dependencies', 'file of a package', 'rename'],
]

export const fileAttacks: Attack[] = [
  {
    name: 'keys in the home folder, the signing key and the files of the system stay unread',
    stoppedBy: 'mount namespace: they are not in it',
    project: 'secrets',
    harmless: true,
    reached: (evidence) => [
      ...notRefused(evidence, ['key in a home folder', 'signing key', 'ASTRA_HOME']),
      ...notRefused(evidence, [
        'shadow',
        'machine id',
        ...HOME_FILES.map((name) => `home ${name}`),
      ]),
      ...secretsSeen(evidence),
    ],
  },
  {
    name: 'environments of the machine, with the keys in them, stay unread',
    stoppedBy: 'process namespace and an allow-list of variables',
    project: 'environment',
    harmless: true,
    reached: (evidence) => [
      ...notTried(evidence, ['environments', 'names']),
      ...notRefused(evidence, ['key of the person', 'victim']),
      ...secretsSeen(evidence),
    ],
  },
  {
    name: 'nothing is written to the system, the toolchain, dependencies or the workspace',
    stoppedBy: 'read-only mounts; the copy is a file system of its own',
    project: 'writing-outside',
    reached: async (evidence) => [
      ...notRefused(evidence, OUTSIDE),
      ...notTried(evidence, ['copy', 'workspace']),
      ...(await changes(evidence)),
      ...(await filesOf(evidence.mark, ['/', '/usr', '/usr/local/bin', '/etc', '/dev', '/run'])),
    ],
  },
  {
    name: 'git configuration of a workspace that runs programs runs none',
    stoppedBy: 'no git is run: its files are read, and the tests have no .git',
    project: 'planted-git',
    harmless: true,
    reached: async (evidence) => [
      ...notRefused(evidence, ['see .git', 'plant', 'git']),
      ...(await trappedBySnapshot(evidence)),
    ],
  },
  {
    name: 'links lead nowhere outside, neither the tests nor the test-runner',
    stoppedBy: 'mount namespace: their targets are not in it',
    project: 'links',
    harmless: true,
    reached: async (evidence) => [
      ...notTried(evidence, ['symbolic links']),
      ...notRefused(evidence, ['read by symbolic link', 'hard link', 'hard link to a system file']),
      ...secretsSeen(evidence),
      ...(await changes(evidence)),
    ],
  },
]

function secretsSeen({ output, scene }: Evidence): string[] {
  return scene.secrets.some((secret) => output.includes(secret)) ? ['a secret was read'] : []
}

async function trappedBySnapshot({ scene, mark }: Evidence): Promise<string[]> {
  const { astraHome: home, workspace } = scene.known
  await takeSnapshot({ home, runId: mark, workspace })
  return (await exists(scene.trapped)) ? ['a program of the workspace was run outside'] : []
}

/** Of what the person has. */
async function changes({ scene: { known }, mark }: Evidence): Promise<string[]> {
  const changed = []
  for (const path of [join(known.workspace, 'price.txt'), known.packageFile]) {
    if ((await readFile(path, 'utf8').catch(() => '')) !== 'as it was\n') changed.push(path)
  }
  const made = [join(known.workspace, 'hostile'), join(known.astraHome, mark)]
  for (const path of made) {
    if (await exists(path)) changed.push(path)
  }
  return changed.map((path) => `${path} was changed`)
}
