import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAstra } from '../support/cli.ts'

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
