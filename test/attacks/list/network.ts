import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack } from '../attack.ts'
import { notRefused, notTried } from '../attack.ts'
import type { Scene } from '../scene.ts'

const CALLS = ['host by TCP', 'host by abstract socket', 'Redis', 'outside by TCP', 'DNS']

export const networkAttacks: Attack[] = [
  {
    name: 'nothing that the tests listen on is reached from the machine',
    stoppedBy: 'network namespace',
    project: 'listening',
    harmless: true,
    watch: callIn,
    reached: (evidence) => notTried(evidence, ['listen']),
  },
  {
    name: 'no call reaches services of the machine, Redis or other machines, and DNS fails fast',
    stoppedBy: 'network namespace; no socket file is shown',
    project: 'network',
    harmless: true,
    reached: (evidence) => [
      ...notRefused(evidence, CALLS),
      ...notTried(evidence, ['DNS fails fast']),
      ...(evidence.scene.visitors.count > 0 ? ['a service of the machine was called'] : []),
    ],
  },
]

async function callIn({ known }: Scene, mark: string, ended: AbortSignal): Promise<string[]> {
  const reached = new Set<string>()
  while (!ended.aborted) {
    if (await answers({ host: '127.0.0.1', port: known.freePort })) reached.add('a TCP port')
    if (await answers({ path: `\0${mark}` })) reached.add('an abstract socket')
    await sleep(20)
  }
  return [...reached].map((each) => `${each} of the tests answered`)
}

function answers(place: { host: string; port: number } | { path: string }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(place)
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => socket.destroy())
    socket.once('connect', () => socket.destroy())
  })
}
