import { describe, expect, it } from 'vitest'
import { cluesOf } from '../../services/offline-model/repair/clues.ts'
import {
  errorTypeOf,
  readRequest,
  searchQuery,
} from '../../services/offline-model/repair/failure.ts'

const message = `Please mend it.

The tests were run before you were asked: node --test
Failing tests:
- origins > second origin is allowed
- third
Output:
AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
+ actual - expected
+ ' b'
- 'b'
    at node:internal/process

Memory search for this failure:
Match 1 (score=0.1650)
Fix: Trim the parts.
Error type: AssertionError
Files: app/a.py, app/b.py
Outcome: pytest passed with exit code 0
Confirmed: 2026-09-15T12:11:51+00:00
Session: s-1`

describe('reading the first message', () => {
  it('finds command, failing tests, output and the search that was made before', () => {
    const { failure, retrieved } = readRequest(message)
    expect(failure.command).toBe('node --test')
    expect(failure.failing).toEqual(['origins > second origin is allowed', 'third'])
    expect(failure.output).toMatch(/^AssertionError[\s\S]*process$/)
    expect(retrieved).toEqual([
      {
        score: 0.165,
        fix: 'Trim the parts.',
        errorType: 'AssertionError',
        files: ['app/a.py', 'app/b.py'],
      },
    ])
  })

  it('tells an empty search from none', () => {
    const [head] = message.split('Match 1')
    expect(readRequest(`${head}No relevant confirmed fixes found.`).retrieved).toEqual([])
    expect(readRequest('Mend it.').retrieved).toBeNull()
  })

  it('asks the memory for what was observed, without frames of the runner', () => {
    const query = searchQuery(readRequest(message).failure)
    expect(query).toContain("+ ' b'")
    expect(query).toContain('second origin is allowed')
    expect(query).not.toContain('node:internal')
  })
})

describe('clues', () => {
  const from = (output: string) => [...cluesOf({ output, testNames: '', testLiterals: [] }).keys()]

  it.each([
    ["' b' !== 'b'", 'whitespace'],
    ["  expected: 'a_b'\n  actual: 'a-b'", 'separator'],
    ["E       AssertionError: assert 'Ann' == 'ann'", 'case'],
    ['AssertionError: 9 != 10', 'boundary'],
    ['expected 5 to be -5', 'sign'],
    ["E       KeyError: 'x'", 'key'],
    ["TypeError: Cannot read properties of undefined (reading 'x')", 'nothing'],
    ['E       assert [3, 1, 2] == [1, 2, 3]', 'order'],
    ['ZeroDivisionError: division by zero', 'division'],
    ["  expected: 4\n  actual: '4'", 'type'],
    ['Expected: true\nReceived: false', 'boolean'],
    ["RuntimeWarning: coroutine 'load' was never awaited", 'await'],
  ])('%j points at %s', (output, clue) => {
    expect(from(output)).toContain(clue)
  })

  it('reads two forms of one literal in a test as what goes in and what comes out', () => {
    const clues = cluesOf({ output: '', testNames: '', testLiterals: ['Audit-Log', 'audit_log'] })
    expect([...clues.keys()]).toEqual(expect.arrayContaining(['separator', 'case']))
  })
})

describe('error types', () => {
  it.each([
    ['E       KeyError: 1', 'KeyError'],
    ["TypeError: Cannot read properties of undefined (reading 'x')", 'TypeError'],
    ['not ok 1 - adds', 'AssertionError'],
  ])('%j is a %s', (output, type) => {
    expect(errorTypeOf(output)).toBe(type)
  })
})
