import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'

/** One test process that has begun and ends only when it is told to, or killed. */
export type Lingering = {
  name: string
  /** Lets the test pass. */
  release(): void
  /** Resolves when the process is gone: its end of the connection closes with it. */
  gone: Promise<void>
  isGone(): boolean
}

export type LingeringTests = {
  /** The files of a project whose one test lingers; `name` tells it from others. */
  project(name: string): Record<string, string>
  /** The test process that begins as number `n` (from 1) of all, or of those of that name. */
  begun(n: number, name?: string): Promise<Lingering>
  /** How many of that name have begun. */
  count(name: string): number
  close(): Promise<void>
}

/** Tests that connect to this process, so that their beginning and their death are events. */
export async function listenToTests(folder: string): Promise<LingeringTests> {
  const path = join(folder, 'tests.sock')
  const all: Lingering[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', (data: Buffer) => {
      all.push(lingering(socket, data.toString()))
      server.emit('begun')
    })
  })
  server.listen(path)
  await once(server, 'listening')
  const named = (name?: string) => all.filter((each) => name === undefined || each.name === name)
  return {
    project: (name) => ({
      'package.json': '{"type": "module", "scripts": {"test": "node --test"}}',
      'a.test.js': testFile(path, name),
    }),
    async begun(n, name) {
      for (;;) {
        const found = named(name)[n - 1]
        if (found) return found
        await once(server, 'begun')
      }
    },
    count: (name) => named(name).length,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function lingering(socket: Socket, name: string): Lingering {
  let ended = false
  const gone = once(socket, 'close').then(() => {
    ended = true
  })
  return { name, gone, isGone: () => ended, release: () => void socket.write('pass') }
}

function testFile(path: string, name: string): string {
  return `
    import { connect } from 'node:net'
    import { test } from 'node:test'
    test('lingers', () => new Promise((resolve) => {
      const socket = connect(${JSON.stringify(path)})
      socket.write('${name}')
      socket.once('data', () => { socket.destroy(); resolve() })
    }))
  `
}
