import { once } from 'node:events'
import { chmod, mkdir } from 'node:fs/promises'
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
  /** The same with a daemon besides, which is named `daemon`. */
  projectWithDaemon(name: string): Record<string, string>
  /** What the projects' `node_modules` has to lead to: dependencies are all that a sandbox shows. */
  nodeModules: string
  /** That, for a manifest. */
  links: { path: string; target: string }[]
  /** The test process that begins as number `n` (from 1) of all, or of those of that name. */
  begun(n: number, name?: string): Promise<Lingering>
  /** How many of that name have begun. */
  count(name: string): number
  close(): Promise<void>
}

/** Tests that connect to this process, so that their beginning and their death are events. */
export async function listenToTests(folder: string): Promise<LingeringTests> {
  const nodeModules = join(folder, 'node_modules')
  await mkdir(join(nodeModules, 'lingering'), { recursive: true })
  const path = join(nodeModules, 'lingering', 'tests.sock')
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
  // The tests have another uid.
  await chmod(path, 0o777)
  const named = (name?: string) => all.filter((each) => name === undefined || each.name === name)
  return {
    project,
    projectWithDaemon: (name) => ({ ...project(name), '1-daemon.test.js': daemonFile }),
    nodeModules,
    links: [{ path: 'node_modules', target: nodeModules }],
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

function project(name: string): Record<string, string> {
  return {
    'package.json': '{"type": "module", "scripts": {"test": "node --test"}}',
    'a.test.js': testFile(name),
  }
}

function lingering(socket: Socket, name: string): Lingering {
  let ended = false
  const gone = once(socket, 'close').then(() => {
    ended = true
  })
  return { name, gone, isGone: () => ended, release: () => void socket.write('pass') }
}

const SOCKET = 'node_modules/lingering/tests.sock'

function testFile(name: string): string {
  return `
    import { connect } from 'node:net'
    import { test } from 'node:test'
    test('lingers', () => new Promise((resolve) => {
      const socket = connect('${SOCKET}')
      socket.write('${name}')
      socket.once('data', () => { socket.destroy(); resolve() })
    }))
  `
}

/** It has a session of its own, as a daemon has, and would never end. */
const daemonFile = `
  import { spawn } from 'node:child_process'
  import { test } from 'node:test'
  const code = "require('node:net').connect('${SOCKET}').write('daemon'); setInterval(() => {}, 1000)"
  test('leaves a daemon', () => {
    spawn(process.execPath, ['-e', code], { detached: true, stdio: 'ignore' }).unref()
  })
`
