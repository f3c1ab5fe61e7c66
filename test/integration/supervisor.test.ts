import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { productRoot } from '../../shared/config.ts'
import type { SupervisorStatus } from '../../shared/contracts/supervisor.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { supervisorStatus } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'

let astra: Astra
beforeEach(async () => {
  astra = await createAstra()
})
afterEach(() => astra.remove())

async function status(): Promise<SupervisorStatus> {
  const found = await supervisorStatus(astra.config)
  if (!found) throw new Error('no supervisor runs')
  return found
}

const pidsOf = (found: SupervisorStatus) => [
  found.pid,
  ...found.processes.map((each) => each.pid ?? 0),
]

/** Resolves when none of the processes is there any more, zombies apart. */
async function gone(pids: number[]): Promise<void> {
  await expect.poll(() => pids.filter(isAlive)).toEqual([])
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Resolves with the status once `accept` is true of it. */
async function statusWhen(accept: (found: SupervisorStatus) => boolean): Promise<SupervisorStatus> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const found = await supervisorStatus(astra.config).catch(() => null)
    if (found && accept(found)) return found
    if (Date.now() > deadline) throw new Error(`last status: ${JSON.stringify(found)}`)
    await delay(20)
  }
}

const allReady = (found: SupervisorStatus) =>
  found.processes.length === 6 && found.processes.every((each) => each.ready)

describe('the supervisor', () => {
  it('starts Redis on a private socket with AOF and no TCP port, and stops all after the last lease', async () => {
    const lease = await astra.hold()
    const found = await status()
    expect(found.processes.map((each) => each.name).sort()).toEqual([
      'agent-runner',
      'embedder',
      'memory-store',
      'offline-model',
      'redis',
      'test-runner',
    ])
    const redis = connectOrFail(astra.config.redis)
    expect(await redis.config('GET', 'appendonly')).toEqual(['appendonly', 'yes'])
    expect(await redis.config('GET', 'port')).toEqual(['port', '0'])
    expect(await redis.config('GET', 'maxmemory-policy')).toEqual([
      'maxmemory-policy',
      'noeviction',
    ])
    redis.disconnect()
    await lease.release()
    await gone(pidsOf(found))
    expect(await supervisorStatus(astra.config)).toBeNull()
  })

  it('is shared by two clients that start at once, and stops under neither', async () => {
    const [first, second] = await Promise.all([astra.hold(), astra.hold()])
    const found = await status()
    expect(found.leases).toBe(2)
    await first.release()
    expect(pidsOf(await status())).toEqual(pidsOf(found))
    await second.release()
    await gone(pidsOf(found))
  })

  it('gives up the lease of a client that was killed', async () => {
    const client = spawn(process.execPath, [join(productRoot, 'services/cli/main.ts'), 'up'], {
      env: astra.env,
      stdio: 'ignore',
    })
    const found = await statusWhen((each) => each.leases === 1 && allReady(each))
    client.kill('SIGKILL')
    await gone(pidsOf(found))
  })

  it('leaves no process behind when it is killed itself', async () => {
    const client = spawn(process.execPath, [join(productRoot, 'services/cli/main.ts'), 'up'], {
      env: astra.env,
      stdio: 'ignore',
    })
    const found = await statusWhen((each) => each.leases === 1 && allReady(each))
    client.kill('SIGKILL')
    process.kill(found.pid, 'SIGKILL')
    await gone(pidsOf(found))
  })

  it('is replaced under a living lease when it is killed, with the same data', async () => {
    const lease = await astra.hold()
    const before = await status()
    const redis = connectOrFail(astra.config.redis, { waitMs: 20_000 })
    redis.on('error', () => {})
    await redis.set('kept', 'yes')
    process.kill(before.pid, 'SIGKILL')
    const after = await statusWhen((each) => each.pid !== before.pid && allReady(each))
    expect(pidsOf(after).some((pid) => pidsOf(before).includes(pid))).toBe(false)
    expect(await redis.get('kept')).toBe('yes')
    redis.disconnect()
    await lease.release()
    await gone(pidsOf(after))
  })

  it('starts a service and Redis again when they are killed', async () => {
    const lease = await astra.hold()
    const before = await status()
    for (const { pid } of before.processes) process.kill(pid ?? 0, 'SIGKILL')
    const after = await statusWhen(
      (each) => allReady(each) && each.processes.every((child) => child.restarts > 0),
    )
    expect(after.pid).toBe(before.pid)
    await lease.release()
  })

  it('stops what is starting when the only client leaves meanwhile', async () => {
    const leaving = new AbortController()
    const running = astra.cli(['up'], { signal: leaving.signal })
    const found = await statusWhen((each) => each.processes.length > 0)
    leaving.abort()
    expect((await running).code).toBe(0)
    await gone(pidsOf(found))
  })

  it('says which service did not start and where its log is', async () => {
    const broken = await createAstra({ EMBEDDING_MODEL_PATH: '/nowhere' })
    const result = await broken.cli(['up'])
    expect(result.code).toBe(1)
    expect(result.stderr).toContain('embedder did not start')
    expect(readFileSync(join(broken.home, 'logs/embedder.log'), 'utf8')).toContain(
      'EMBEDDING_MODEL_PATH',
    )
    await broken.remove()
  })

  it('keeps its data in a folder that only its owner may enter', async () => {
    const lease = await astra.hold()
    const socket = join(astra.home, 'run')
    expect(existsSync(socket)).toBe(true)
    const { statSync } = await import('node:fs')
    expect(statSync(socket).mode & 0o077).toBe(0)
    await lease.release()
  })
})
