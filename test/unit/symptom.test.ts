import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorTypeOf, normaliseSymptom } from '../../shared/symptom.ts'

describe('normaliseSymptom', () => {
  it('gives one text for one failure seen on two machines', () => {
    const here = [
      '\u001b[31mTypeError\u001b[39m: tags.map is not a function',
      '    at parseTags (file:///home/ann/shop/src/tags.ts:12:9)',
      '    at TestContext.<anonymous> (file:///home/ann/shop/test/tags.test.ts:5:3)',
      '    at node:internal/test_runner/test:1123:18',
    ].join('\n')
    const there = [
      'TypeError: tags.map is not a function',
      '    at parseTags (/tmp/astra-x1Y2z3/src/tags.ts:14:11)',
      '    at TestContext.<anonymous> (/tmp/astra-x1Y2z3/test/tags.test.ts:7:3)',
    ].join('\r\n')
    expect(normaliseSymptom(here)).toBe(normaliseSymptom(there))
    expect(normaliseSymptom(here)).toBe(
      [
        'TypeError: tags.map is not a function',
        '    at parseTags (src/tags.ts)',
        '    at TestContext.<anonymous> (test/tags.test.ts)',
      ].join('\n'),
    )
  })

  it.each([
    ['File "/root/app/src/shop/cart.py", line 12, in total', 'File "src/shop/cart.py", in total'],
    ['/opt/x/node_modules/zod/index.js:3:4 broke', 'node_modules/zod/index.js broke'],
    ['<Cart object at 0x7f3a2c1b9d50>', '<Cart object at 0x>'],
    ['2026-01-02T03:04:05.678Z cart failed (12 ms)', '<time> cart failed'],
    ['--- FAIL: TestTotal (0.02s)', '--- FAIL: TestTotal'],
    ['order 3f2504e0-4f89-11d3-9a0c-0305e82c3301 missing', 'order <uuid> missing'],
    ['token 9f86d081884c7d659a2feaa0c55ad015 refused', 'token <id> refused'],
    ['connect ECONNREFUSED 127.0.0.1:43210', 'connect ECONNREFUSED 127.0.0.1:<port>'],
    ['C:\\Users\\ann\\shop\\src\\tags.ts:3:1', 'src/tags.ts'],
    ["thread 'a' (2951) panicked at src/lib.rs:4:5:", "thread 'a' panicked at src/lib.rs:"],
    ["thread 'a' panicked at src/lib.rs:4:5:", "thread 'a' panicked at src/lib.rs:"],
  ])('takes out what differs from run to run: %s', (text, expected) => {
    expect(normaliseSymptom(text)).toBe(expected)
  })

  it.each([
    "KeyError: 'audit_log'",
    "AssertionError: expected '/api/users/list' to equal '/api/users'",
    "expected '2024-03-10T03:00:00Z' to equal '2024-03-10T02:00:00Z'",
    "- 'us-east-1'\n+ ' us-east-1'",
    'RangeError: Invalid array length 4096',
    'expected 0xff to equal 0x0f',
    'Timeout of 5000ms exceeded',
  ])('keeps the values that tell one failure from another: %s', (text) => {
    expect(normaliseSymptom(text)).toBe(text)
  })

  it("drops the frames of Go's own library and keeps the project's", () => {
    const text = [
      'panic: runtime error: index out of range [3] with length 0',
      '',
      'goroutine 6 [running]:',
      'testing.tRunner.func1.2({0x574440, 0x74157460078})',
      '\t/usr/local/go/src/testing/testing.go:1974 +0x232',
      'example.com/cart/sub.Total(0x741574e6248?)',
      '\t/home/ann/cart/internal/sub/sub.go:3 +0x9',
    ].join('\n')
    expect(normaliseSymptom(text)).toBe(
      [
        'panic: runtime error: index out of range [3] with length 0',
        '',
        'goroutine [running]:',
        'example.com/cart/sub.Total(0x?)',
        '\tinternal/sub/sub.go',
      ].join('\n'),
    )
  })

  it('drops the markers below source lines and the frames of the runtime', () => {
    const text = [
      'Error [ERR_MODULE_NOT_FOUND]: Cannot find module',
      '    at load (src/a.mjs:1:1)',
      '    at ModuleJob._link (node:internal/modules/esm/module_job:168:49) {',
      "  code: 'ERR_MODULE_NOT_FOUND'",
      '>   def test_a(): assert 1 == 2',
      '                         ^^^^^^',
      'Node.js v20.20.2',
    ].join('\n')
    expect(normaliseSymptom(text)).toBe(
      [
        'Error [ERR_MODULE_NOT_FOUND]: Cannot find module',
        '    at load (src/a.mjs)',
        "  code: 'ERR_MODULE_NOT_FOUND'",
        '>   def test_a(): assert 1 == 2',
      ].join('\n'),
    )
  })

  it('keeps one of the frames that a recursion repeats', () => {
    const frames = '  File "src/walk.py", line 3, in walk\n    return walk(node.next)\n'.repeat(900)
    const text = `Traceback (most recent call last):\n${frames}RecursionError: too deep`
    expect(normaliseSymptom(text)).toBe(
      'Traceback (most recent call last):\n  File "src/walk.py", in walk\n    return walk(node.next)\nRecursionError: too deep',
    )
  })

  it('keeps both ends of a text that is too long', () => {
    const text = `FIRST\n${'some line of output\n'.repeat(50_000)}LAST`
    const result = normaliseSymptom(text)
    expect(result.length).toBeLessThanOrEqual(4_000)
    expect(result).toMatch(/^FIRST[\s\S]*LAST$/)
  })

  it('drops stack frames before messages when a text is too long', () => {
    const frames = Array.from({ length: 400 }, (_, i) => `    at step${i} (src/a${i}.ts:1:1)`)
    const text = ['Error: the message', ...frames, 'Error: the other'].join('\n')
    expect(normaliseSymptom(text)).toBe('Error: the message\nError: the other')
  })

  it('changes nothing in a second pass', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const once = normaliseSymptom(text)
        expect(normaliseSymptom(once)).toBe(once)
      }),
    )
  })
})

describe('errorTypeOf', () => {
  it.each([
    ['AssertionError [ERR_ASSERTION]: Expected values to be strictly equal', 'AssertionError'],
    ['E       json.decoder.JSONDecodeError: Expecting value', 'JSONDecodeError'],
    [
      '    def test_a():\n>       assert 1 == 2\nE       assert 1 == 2\n\ntests/test_a.py:5: AssertionError',
      'AssertionError',
    ],
    ["KeyError: 'a'\n\nDuring handling ...\n\nValueError: b", 'KeyError'],
    ['panic: runtime error: index out of range [3] with length 3', 'panic'],
    ["thread 'tests::adds' panicked at src/lib.rs:9:9:\nassertion failed", 'panic'],
    ['Error: expect(received).toBe(expected) // Object.is equality', 'AssertionError'],
    ['assert.deepEqual(received, expected)\n\nExpected value', 'AssertionError'],
    ['Error: socket hang up', 'Error'],
    ['    cart_test.go:9: got 2, want 3', 'TestFailure'],
    ['', 'TestFailure'],
  ])('%j is %s', (text, expected) => {
    expect(errorTypeOf(text)).toBe(expected)
  })
})
