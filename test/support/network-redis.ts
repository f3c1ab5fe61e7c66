import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectOrFail } from '../../shared/queue/connection.ts'

export type NetworkRedis = {
  /** With its password, as REDIS_URL has it. */
  url: string
  stop(): Promise<void>
}

type Options = {
  host?: string
  port?: number
  /** A program with its arguments that becomes the server, such as one that enters a namespace. */
  through?: readonly string[]
}

/** A real Redis of the test's own that listens on the network and asks for a password. */
export async function startNetworkRedis(options: Options = {}): Promise<NetworkRedis> {
  const { host = '127.0.0.1', through = [] } = options
  const port = options.port ?? (await freePort())
  const folder = await mkdtemp(join(tmpdir(), 'astra-redis-'))
  const password = randomBytes(12).toString('hex')
  const listen = ['--bind', host, '--port', `${port}`, '--requirepass', password]
  const memory = ['--dir', folder, '--save', '', '--maxmemory-policy', 'noeviction']
  const [command = '', ...args] = [...through, 'redis-server', ...listen, ...memory]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      if (chunk.includes('eady to accept connections')) resolve()
    })
  }).catch(async (error) => {
    await rm(folder, { recursive: true, force: true })
    throw error
  })
  return {
    url: `redis://:${password}@${host}:${port}`,
    async stop() {
      child.removeAllListeners('exit')
      if (child.exitCode === null && child.signalCode === null) {
        const ended = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        await ended
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** A connection of the test's own to it. */
export const connectTo = ({ url }: NetworkRedis) => connectOrFail({ url })
