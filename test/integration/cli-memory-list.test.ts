import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { listResultSchema } from '../../shared/contracts/memory.ts'
import type { MemoryRecord } from '../../shared/contracts/record.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import type { Lease } from '../../shared/supervisor-client.ts'
import { type Astra, createAstra } from '../support/astra.ts'
import { sampleRecord, seededVector } from '../support/memory.ts'

const now = new Date().toISOString()
const planted = (changes: Partial<MemoryRecord>) => ({
  ...sampleRecord({ timestamp: now, ...changes }),
  ...changes,
})
const live = planted({ session_id: 'live', error_type: 'TypeError: x is not a function' })
const records = [
  live,
  planted({ session_id: 'elsewhere', error_type: 'TypeError', repository_id: 'repository-2' }),
  planted({ session_id: 'revoked', error_type: 'KeyError', revoked_at: now }),
  planted({ session_id: 'superseded', error_type: 'KeyError', superseded_by: live.memory_id }),
  planted({ session_id: 'expired', timestamp: '2001-01-01T00:00:00Z' }),
]

let astra: Astra
let lease: Lease
beforeAll(async () => {
  astra = await createAstra({ ASTRA_MEMORY_DAYS: '3650' })
  await plantRecords()
  lease = await astra.hold()
})
afterAll(async () => {
  await lease?.release()
  await astra.remove()
})

async function plantRecords(): Promise<void> {
  const folder = join(astra.home, 'memory')
  await mkdir(folder, { mode: 0o700 })
  const backend = openSqliteBackend({ file: join(folder, 'memory.db'), dimensions: DIMENSIONS })
  for (const [i, record] of records.entries()) {
    const vectors = { symptom: seededVector(i, DIMENSIONS), fix: seededVector(-i, DIMENSIONS) }
    await backend.upsert(record, vectors)
  }
  await backend.close()
}

const list = (...args: string[]) => astra.cli(['memory', 'list', ...args])

describe('astra memory list', () => {
  it.each([
    ['all', [], ['elsewhere', 'expired', 'live', 'revoked', 'superseded']],
    [
      'an error type, as searches compare it',
      ['--error-type', ' typeerror'],
      ['elsewhere', 'live'],
    ],
    ['a repository', ['--repository', 'repository-2'], ['elsewhere']],
    ['a session', ['--session', 'live'], ['live']],
    ['what is live', ['--state', 'live'], ['elsewhere', 'live']],
    ['what is revoked', ['--state', 'revoked'], ['revoked']],
    ['what is superseded', ['--state', 'superseded'], ['superseded']],
    ['what is expired', ['--state', 'expired'], ['expired']],
    [
      'what fits all that is given',
      ['--error-type', 'TypeError', '--repository', 'repository-1', '--state', 'live'],
      ['live'],
    ],
  ])('lists %s', async (_title, args, sessions) => {
    const { code, stdout, stderr } = await list(...args, '--json')
    expect(code, stderr).toBe(0)
    const page = listResultSchema.parse(JSON.parse(stdout))
    expect(page.records.map(({ session_id }) => session_id).sort()).toEqual(sessions)
    expect(page.total).toBe(sessions.length)
  })

  it('counts what the filter leaves, not what is shown, and pages through it', async () => {
    const first = await list('--error-type', 'KeyError', '--limit', '1')
    const second = await list('--error-type', 'KeyError', '--limit', '1', '--offset', '1')
    for (const { stdout } of [first, second]) expect(stdout).toMatch(/^1 of 2$/m)
    const states = [first, second].map(({ stdout }) =>
      /(revoked|superseded) +KeyError/.exec(stdout),
    )
    expect(new Set(states.map((each) => each?.[1]))).toEqual(new Set(['revoked', 'superseded']))
    const beyond = await list('--error-type', 'KeyError', '--offset', '2')
    expect(beyond).toMatchObject({ code: 0, stdout: 'there are only 2\n' })
  })

  it('says what was asked for when no record fits it', async () => {
    const none = await list('--error-type', 'OSError', '--state', 'live')
    const stdout = 'there is no record of error type OSError, state live\n'
    expect(none).toMatchObject({ code: 0, stdout })
  })
})
