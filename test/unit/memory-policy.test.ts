import { describe, expect, it } from 'vitest'
import { renderMatches } from '../../services/agent-runner/tools/outputs.ts'
import {
  expiredBefore,
  isExpired,
  policyOf,
  scopeOf,
} from '../../services/memory-store/lifecycle/policy.ts'
import { readConfig } from '../../shared/config.ts'
import { searchResultSchema } from '../../shared/contracts/memory.ts'

const policy = (env: Record<string, string>) => policyOf(readConfig({ HOME: '/home/a', ...env }))
const now = new Date('2026-11-30T12:00:00Z')

describe('what a search may choose from', () => {
  it('is all records by default, whoever asks', () => {
    expect(policy({})).toEqual({ sharing: 'all', group: null, days: null })
    expect(scopeOf(policy({}), undefined)).toEqual({ kind: 'search', scope: null })
    expect(scopeOf(policy({}), 'r1')).toEqual({ kind: 'search', scope: null })
  })

  it('is one repository where the memory is not shared, and nothing for whoever names none', () => {
    const own = policy({ ASTRA_MEMORY_SHARING: 'repository' })
    expect(scopeOf(own, 'r1')).toEqual({ kind: 'search', scope: { repository_id: 'r1' } })
    for (const nobody of [undefined, '']) {
      expect(scopeOf(own, nobody)).toMatchObject({
        kind: 'withheld',
        why: expect.stringContaining('names no repository'),
      })
    }
  })

  it('is one group where the memory is shared in one, whoever asks', () => {
    const team = policy({ ASTRA_MEMORY_SHARING: 'group', ASTRA_MEMORY_GROUP: ' team-a ' })
    expect(scopeOf(team, undefined)).toEqual({ kind: 'search', scope: { group: 'team-a' } })
    expect(scopeOf({ ...team, group: null }, 'r1')).toMatchObject({ kind: 'withheld' })
  })
})

describe('a configuration that could share too much is refused by the name of the variable', () => {
  it.each([
    [{ ASTRA_MEMORY_SHARING: 'group' }, 'ASTRA_MEMORY_GROUP'],
    [{ ASTRA_MEMORY_SHARING: 'group', ASTRA_MEMORY_GROUP: '' }, 'ASTRA_MEMORY_GROUP'],
    [{ ASTRA_MEMORY_SHARING: 'group', ASTRA_MEMORY_GROUP: '  ' }, 'ASTRA_MEMORY_GROUP'],
    [{ ASTRA_MEMORY_SHARING: 'team' }, 'ASTRA_MEMORY_SHARING'],
    [{ ASTRA_MEMORY_DAYS: '0' }, 'ASTRA_MEMORY_DAYS'],
    [{ ASTRA_MEMORY_DAYS: 'never' }, 'ASTRA_MEMORY_DAYS'],
  ])('%j', (env, variable) => {
    expect(() => policy(env)).toThrow(variable)
  })
})

describe('expiry', () => {
  it('comes so many days after the confirmation, to the millisecond', () => {
    const week = policy({ ASTRA_MEMORY_DAYS: '7' })
    expect(expiredBefore(week, now)).toBe('2026-11-23T12:00:00.000Z')
    expect(isExpired('2026-11-23T14:00:00+02:00', week, now)).toBe(false)
    expect(isExpired('2026-11-23T11:59:59.999Z', week, now)).toBe(true)
  })

  it('never comes where no days are set', () => {
    expect(expiredBefore(policy({}), now)).toBeNull()
    expect(isExpired('1999-01-01T00:00:00Z', policy({}), now)).toBe(false)
  })
})

it('tells the model why nothing is answered, behind what every empty search says', () => {
  const withheld = scopeOf(policy({ ASTRA_MEMORY_SHARING: 'repository' }), undefined)
  const why = withheld.kind === 'withheld' ? withheld.why : null
  const result = searchResultSchema.parse({ matches: [], searched: 0, withheld: why })
  expect(renderMatches(result)).toMatch(
    /^No relevant confirmed fixes found\.\nNothing is shared: ASTRA_MEMORY_SHARING is repository/,
  )
})
