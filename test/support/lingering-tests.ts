import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'

/** One test process that has begun and ends only when it is told to, or killed. */
export type Lingering = {
  pid: number
  /** Lets the test pass. */
  release(): void
  /** Resolves when the process is gone: its end of the connection closes with it. */
  gone: Promise<void>
  isGone(): boolean
}

export type LingeringTests = {
  /** The files of a project whose one test lingers; `name` tells it from others. */
  project(name: string): Record<string, string>
  /** The next test process of that name, from the first on. */
  begun(name: string): Promise<Lingering>
  /** How many have begun. */
  count(name: string): number
  close(): Promise<void>
}

/** Tests that connect to this process, so that their beginning and their death are events. */
export async function listenToTests(folder: string): Promise<LingeringTests> {
  const path = join(folder, 'tests.sock')
  const begun = new Map<string, Lingering[]>()
  const taken = new Map<string, number>()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', (data: Buffer) => {
      const [name = '', pid] = data.toString().split(' ')
      let ended = false
      const gone = once(socket, 'close').then(() => {
        ended = true
      })
      const release = () => socket.write('pass')
      const lingering = { pid: Number(pid), release, gone, isGone: () => ended }
      begun.set(name, [...(begun.get(name) ?? []), lingering])
      server.emit(`begun ${name}`)
    })
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    project: (name) => ({ 'a.test.mjs': testFile(path, name) }),
    async begun(name) {
      const index = taken.get(name) ?? 0
      taken.set(name, index + 1)
      for (;;) {
        const found = begun.get(name)?.[index]
        if (found) return found
        await once(server, `begun ${name}`)
      }
    },
    count: (name) => begun.get(name)?.length ?? 0,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function testFile(path: string, name: string): string {
  return `
    import { connect } from 'node:net'
    import { test } from 'node:test'
    test('lingers', () => new Promise((resolve) => {
      const socket = connect(${JSON.stringify(path)})
      socket.write('${name} ' + process.pid)
      socket.once('data', () => { socket.destroy(); resolve() })
    }))
  `
}
