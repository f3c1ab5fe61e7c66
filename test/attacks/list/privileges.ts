import type { Attack } from '../attack.ts'
import { notRefused } from '../attack.ts'

const RIGHTS = [
  ...['user namespace', 'mount namespace', 'mount', 'mount of proc', 'remount', 'chroot'],
  ...['namespaces of the victim', 'su', 'sudo', 'newuidmap', 'setpriv', 'setuid of a copy'],
  ...['capabilities', 'new privileges'],
]
const CALLS = ['trace the victim', "read the victim's memory", 'new user namespace', 'mount']
const TERMINALS = ['terminal', 'terminal 0', 'terminal 1', 'terminal 2']

export const privilegeAttacks: Attack[] = [
  {
    name: 'no program gains rights or leaves the namespaces',
    stoppedBy: 'no capabilities, no new privileges, no further user namespaces',
    project: 'privileges',
    reached: (evidence) => notRefused(evidence, RIGHTS),
  },
  {
    name: 'the kernel lets the tests trace nobody, mount nothing and become nobody else',
    stoppedBy: 'no capabilities, process namespace',
    project: 'kernel',
    needs: ['python'],
    reached: (evidence) => notRefused(evidence, [...CALLS, 'become root']),
  },
  {
    name: 'keys that the kernel keeps for the person stay unread',
    stoppedBy: 'filter of system calls',
    project: 'keyring',
    needs: ['python'],
    within: 'a session with a key',
    reached: (evidence) => notRefused(evidence, ['key of the person', 'keyring']),
  },
  {
    name: 'nothing is typed into the terminal of the person',
    stoppedBy: 'a session without a terminal',
    project: 'kernel',
    needs: ['python'],
    within: 'terminal',
    reached: (evidence) => notRefused(evidence, TERMINALS),
  },
]
