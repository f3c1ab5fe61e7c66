import { describe, expect, it } from 'vitest'
import { parseJsonc } from '../../shared/jsonc.ts'

describe('JSON with comments', () => {
  it('takes comments of both kinds, trailing commas and a byte order mark', () => {
    const text = '\uFEFF// which tests\n{ /* all */ "command": "pytest", "include": ["a//b",], }\n'
    expect(parseJsonc(text)).toEqual({ value: { command: 'pytest', include: ['a//b'] } })
  })

  it.each([
    ['', 'line 1, column 1: value expected'],
    ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: comma expected'],
    ['{"a": }', 'line 1, column 7: value expected'],
    ["{'a': 1}", 'line 1, column 2: invalid symbol'],
    ['{} {}', 'line 1, column 4: end of file expected'],
  ])('says where it is wrong: %j', (text, problem) => {
    expect(parseJsonc(text)).toEqual({ problem })
  })

  it('ends at a file that is nested without an end', () => {
    expect(parseJsonc('['.repeat(1_000_000))).toEqual({ problem: 'it is nested too deeply' })
  })
})
