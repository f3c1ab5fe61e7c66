import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startAstra } from '../support/cli.ts'
import { startNetworkRedis } from '../support/network-redis.ts'

let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'astra-up-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

describe('astra up', () => {
  it('runs as many processes as asked for, changes them when asked again, and stops them at Ctrl-C', async () => {
    const up = startAstra(['up', '--embedders', '2', '--test-runners', '2'], { home })
    await up.says('Ctrl-C stops them')
    expect(up.printed()).toMatch(/embedder-2 \(process \d+\)/)
    expect(up.printed()).toMatch(/test-runner-2 \(process \d+\)/)
    const second = startAstra(['up', '--embedders', '1', '--agent-runners', '2', '--json'], {
      home,
    })
    await second.says('"processes"')
    const { processes } = JSON.parse(second.printed()) as { processes: { name: string }[] }
    const names = processes.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['embedder', 'agent-runner-2', 'test-runner-2']))
    expect(names).not.toContain('embedder-2')
    for (const command of [second, up]) {
      command.kill('SIGINT')
      expect((await command.result).code).toBe(0)
    }
  })

  it('adds nothing but what --only names to a fleet', async () => {
    const server = await startNetworkRedis()
    onTestFinished(() => server.stop())
    const env = { REDIS_URL: server.url }
    const up = startAstra(['up', '--only', 'test-runner,embedder', '--embedders', '2', '--json'], {
      home,
      env,
    })
    await up.says('"processes"')
    const { processes } = JSON.parse(up.printed()) as { processes: { name: string }[] }
    const names = ['embedder', 'embedder-2', 'test-runner']
    expect(processes.map(({ name }) => name).sort()).toEqual(names)
    // Another command there gives it more to do, and takes nothing away when it ends.
    const more = startAstra(['up', '--only', 'agent-runner', '--json'], { home, env })
    await more.says('"processes"')
    expect(more.printed()).toContain('"agent-runner"')
    more.kill('SIGINT')
    expect((await more.result).code).toBe(0)
    up.kill('SIGINT')
    expect((await up.result).code).toBe(0)
  })

  it.for([
    [['--only', 'embedder'], 'REDIS_URL names none'],
    [['--only', 'memory-store'], 'Choose from agent-runner, test-runner, embedder'],
    [['--only', 'embedder', '--test-runners', '2'], '--only leaves that service out'],
  ] as const)('refuses %j, and says why', async ([args, why]) => {
    const { code, stderr } = await startAstra(['up', ...args], { home }).result
    expect(code).toBe(2)
    expect(stderr).toContain(why)
  })

  it.for(['0', '65', '1.5', '-1', 'many', ''])(
    'refuses %j processes, and says what is allowed',
    async (count) => {
      const up = startAstra(['up', `--embedders=${count}`], { home })
      const { code, stderr } = await up.result
      expect(code).toBe(2)
      expect(stderr).toContain('--embedders')
      expect(stderr).toContain('whole number from 1 to 64')
    },
  )
})
