import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { supervisorStatus } from '../../shared/supervisor-client.ts'
import { createAstra } from '../support/astra.ts'

const KEY = `sk-fake-${process.pid}-in-a-file`

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-key-file-'))
  await writeFile(join(folder, 'key'), `${KEY}\n`)
})
afterEach(() => rm(folder, { recursive: true }))

describe('a key that stands in a file', () => {
  it('reaches the agent-runner alone, wherever its file is named', async () => {
    const astra = await createAstra({ OPENAI_API_KEY_FILE: join(folder, 'key') })
    await writeFile(join(astra.home, '.env'), `OPENAI_API_KEY_FILE=${join(folder, 'key')}\n`)
    const lease = await astra.hold()
    try {
      const found = await supervisorStatus(astra.config)
      const services = found?.processes.filter(({ name }) => name !== 'redis') ?? []
      expect(services.length).toBeGreaterThan(4)
      for (const { name, pid } of services) {
        const environment = await readFile(`/proc/${pid}/environ`, 'utf8')
        expect(environment.includes(KEY), name).toBe(name.startsWith('agent-runner'))
        expect(environment, name).not.toContain('OPENAI_API_KEY_FILE')
      }
    } finally {
      await lease.release()
      await astra.remove()
    }
  })

  it('is told of by the doctor as if it stood in the environment, and not shown', async () => {
    const astra = await createAstra({ OPENAI_API_KEY_FILE: join(folder, 'key') })
    const { stdout } = await astra.cli(['doctor', '--json'])
    expect(stdout).toContain('OPENAI_API_KEY is set')
    expect(stdout).not.toContain(KEY)
    await astra.remove()
  })

  it('ends a command that needs it when the file is missing, with its name', async () => {
    const astra = await createAstra({ OPENAI_API_KEY_FILE: join(folder, 'missing') })
    const { code, stderr } = await astra.cli(['runs'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/OPENAI_API_KEY_FILE/)
    await astra.remove()
  })
})
