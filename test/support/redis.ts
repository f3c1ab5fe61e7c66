import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { RedisAddress } from '../../shared/queue/connection.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'

export type TestRedis = { address: RedisAddress; pid: number; stop(): Promise<void> }

/**
 * A real Redis of the test's own, on a unix socket: in a folder of its own, or at `socket`, where a
 * service process will look for it.
 */
export async function startRedis(socket?: string): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'astra-redis-'))
  const path = socket ?? join(folder, 'redis.sock')
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const child = spawn(
    'redis-server',
    ['--port', '0', '--unixsocket', path, '--dir', folder, '--save', '', '--appendonly', 'no'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      if (chunk.includes('eady to accept connections')) resolve()
    })
  })
  const address = { path }
  const probe = connectOrFail(address)
  await probe.ping()
  probe.disconnect()
  return {
    address,
    pid: child.pid ?? 0,
    async stop() {
      child.removeAllListeners('exit')
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
