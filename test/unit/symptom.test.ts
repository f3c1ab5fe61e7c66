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
    ['File "/home/ann smith/src/cart.py", line 2, in a', 'File "src/cart.py", in a'],
    ['/opt/x/node_modules/zod/index.js:3:4 broke', 'node_modules/zod/index.js broke'],
    ['../../../../opt/node_modules/zod/index.js:3:4 broke', 'node_modules/zod/index.js broke'],
    ['(/usr/lib/python3.11/collections/__init__.py) broke', '(collections/__init__.py) broke'],
    ['/usr/src/app/src/tags.ts:3:1 broke', 'src/tags.ts broke'],
    ['/root/go/pkg/mod/example.com/x@v1.2.3/a.go:3 broke', 'example.com/x@v1.2.3/a.go broke'],
    ['C:\\Users\\ann\\shop\\src\\tags.ts:3:1', 'src/tags.ts'],
    ['at /home/ann/clinic/src/Booking.cs:line 41 broke', 'at src/Booking.cs broke'],
    ['src/config.ts(9,34): error TS2345: no', 'src/config.ts: error TS2345: no'],
    ['<Cart object at 0x7f3a2c1b9d50>', '<Cart object at 0x>'],
    ['org.postgresql.PgConnection@5e1d03d7 leaked', 'org.postgresql.PgConnection@<id> leaked'],
    ['Task-19 was destroyed', 'Task was destroyed'],
    ['order 3f2504e0-4f89-11d3-9a0c-0305e82c3301 missing', 'order <uuid> missing'],
    ['token 9f86d081884c7d659a2feaa0c55ad015 refused', 'token <id> refused'],
    ['connect ECONNREFUSED 127.0.0.1:43210', 'connect ECONNREFUSED 127.0.0.1:<port>'],
    ["thread 'a' (2951) panicked at src/lib.rs:4:5:", "thread 'a' panicked at src/lib.rs:"],
    ["thread 'a' panicked at src/lib.rs:4:5:", "thread 'a' panicked at src/lib.rs:"],
    ['request timed out after 30001ms', 'request timed out after <duration>'],
    ['slow query, elapsed=5.01', 'slow query, elapsed=<duration>'],
    ['seen 2026-01-02T03:04:05Z by node-c', 'seen <time> by node-c'],
  ])('takes out what differs from run to run: %s', (text, expected) => {
    expect(normaliseSymptom(text)).toBe(expected)
  })

  it.each([
    ['2026-01-02T03:04:05.678Z cart failed (12 ms)', 'cart failed'],
    ['[2026-11-06 03:05:02,233: ERROR/Worker-1] cart failed', 'cart failed'],
    ['2026/11/06 03:05:02 cart failed', 'cart failed'],
    ['web-1  | Error: connect', 'Error: connect'],
    ['WARNING  shop.cart:cart.py:14 price missing', 'shop.cart price missing'],
    ['[ERROR] java.lang.NullPointerException: no', 'java.lang.NullPointerException: no'],
    ['10.42.0.9 - - [12/Feb/2026 16:40:51] "GET / HTTP/1.1" 500', '"GET / HTTP/1.1" 500'],
  ])('takes off what programs print before a line: %s', (text, expected) => {
    expect(normaliseSymptom(text)).toBe(expected)
  })

  it.each([
    "KeyError: 'audit_log'",
    "AssertionError: expected '/api/users/list' to equal '/api/users'",
    "expected '2024-03-10T03:00:00Z' to equal '2024-03-10T02:00:00Z'",
    'expected: <2024-06-30T21:04:11.337103Z> but was: <2024-06-30T21:04:11.337Z>',
    "- 'us-east-1'\n+ ' us-east-1'",
    'RangeError: Invalid array length 4096',
    'expected 0xff to equal 0x0f',
    'Timeout of 5000ms exceeded',
    'Error: Test timed out in 5000ms.',
    'Error: connect ECONNREFUSED 127.0.0.1:5432',
    "error TS2345: Argument of type 'string' is not assignable",
    'error[E0382]: borrow of moved value: `lines`',
    'psycopg.errors.DeadlockDetected: deadlock detected (SQLSTATE 40P01)',
    'QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00',
    "can't decode byte 0xe9 in position 1187: invalid continuation byte",
    "import { a } from './lib/client'",
    'FATAL ERROR: Reached heap limit',
    'Class "App\\Mail\\SmsTemplate" not found',
    'POST /orders 422 Unprocessable Entity',
  ])('keeps the values that tell one failure from another: %s', (text) => {
    expect(normaliseSymptom(text)).toBe(text)
  })

  it('keeps one of the frames that a recursion repeats', () => {
    const frames = '  File "src/walk.py", line 3, in walk\n    return walk(node.next)\n'.repeat(900)
    const text = `Traceback (most recent call last):\n${frames}RecursionError: too deep`
    expect(normaliseSymptom(text)).toBe(
      'File "src/walk.py", in walk\n    return walk(node.next)\nRecursionError: too deep',
    )
  })

  it("drops the source of a library's function that pytest prints, and keeps its error", () => {
    const text = [
      '>   total(lines)',
      'tests/test_cart.py:9: ',
      '_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ ',
      '    def acquire(self):',
      '>       raise PoolTimeout("no connection")',
      'E       pool.PoolTimeout: no connection',
      '/usr/lib/python3/site-packages/pool/impl.py:168: PoolTimeout',
    ].join('\n')
    expect(normaliseSymptom(text)).toBe('>   total(lines)\nE       pool.PoolTimeout: no connection')
  })

  it("keeps a summary's message that is said nowhere else", () => {
    const summary = "FAILED tests/test_cart.py::test_key - KeyError: 'price'"
    expect(normaliseSymptom(summary)).toBe("tests/test_cart.py::test_key - KeyError: 'price'")
    expect(normaliseSymptom(`E   KeyError: 'price'\n${summary}`)).toBe("E   KeyError: 'price'")
  })

  it('keeps a text of nothing but counts, which is more than nothing', () => {
    expect(normaliseSymptom('1 failed, 2 passed in 0.12s')).toBe('1 failed, 2 passed in 0.12s')
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
})

describe('errorTypeOf', () => {
  it.each([
    ['AssertionError [ERR_ASSERTION]: Expected values to be strictly equal', 'AssertionError'],
    ['E       json.decoder.JSONDecodeError: Expecting value', 'JSONDecodeError'],
    ['>   assert 1 == 2\nE   assert 1 == 2\n\ntests/test_a.py:5: AssertionError', 'AssertionError'],
    ['E   shop.EmptyCart: no lines\n\nsrc/shop/cart.py:22: EmptyCart', 'EmptyCart'],
    ["FAILED tests/test_a.py::test_a - KeyError: 'a'", 'KeyError'],
    ['  File "a.py", line 3, in f\n    raise NoCart()\nNoCart: none', 'NoCart'],
    ['Exception in thread "main" java.lang.NullPointerException: no', 'NullPointerException'],
    ['com.acme.Cart$PriceMissing: none\n\tat com.acme.Cart.price(Cart.java:7)', 'PriceMissing'],
    [
      'java.lang.IllegalStateException: a\nCaused by: java.io.IOException: b',
      'IllegalStateException',
    ],
    ['kotlin.UninitializedPropertyAccessException: a', 'UninitializedPropertyAccessException'],
    ['System.InvalidOperationException : a second operation', 'InvalidOperationException'],
    ['ActiveRecord::ConnectionTimeoutError:\n  none', 'ActiveRecord::ConnectionTimeoutError'],
    ['PriceMissing: no price for tea\n    at price (src/cart.js:14:9)', 'PriceMissing'],
    ["      error: 'no price'\n      name: 'PriceMissing'", 'PriceMissing'],
    ['[Error [AggregateError]: All promises were rejected] {', 'AggregateError'],
    ['AggregateError: All promises were rejected', 'AggregateError'],
    ['panic: runtime error: index out of range [3] with length 3', 'panic'],
    ['fatal error: all goroutines are asleep - deadlock!', 'fatal error'],
    ["thread 'tests::adds' panicked at src/lib.rs:9:9:\nassertion failed", 'panic'],
    ['src/a.ts:1:2 - error TS2322: no', 'TS2322'],
    ['error[E0382]: borrow of moved value', 'E0382'],
    ['Error: expect(received).toBe(expected) // Object.is equality', 'AssertionError'],
    ['assert.deepEqual(received, expected)\n\nExpected value', 'AssertionError'],
    ['Error: connect ECONNREFUSED 127.0.0.1:80', 'ECONNREFUSED'],
    ["Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'", 'ERR_MODULE_NOT_FOUND'],
    ["Error: socket hang up\n    at a (b.js:1:1) {\n  code: 'ECONNRESET'\n}", 'ECONNRESET'],
    ['Error: first\n\nError: connect ECONNREFUSED ::1:80', 'Error'],
    ['ERROR:  deadlock detected (SQLSTATE 40P01)', '40P01'],
    ['Error: socket hang up', 'Error'],
    ['        \tError:      \tNot equal:', 'TestFailure'],
    ['    cart_test.go:9: got 2, want 3', 'TestFailure'],
    ['', 'TestFailure'],
  ])('%j is %s', (text, expected) => {
    expect(errorTypeOf(text)).toBe(expected)
  })

  const during = 'During handling of the above exception, another exception occurred:'
  it('is the exception that was raised last when Python chains them', () => {
    expect(errorTypeOf(`KeyError: 'a'\n\n${during}\n\nValueError: b`)).toBe('ValueError')
    const twice = `E   KeyError: 'a'\n\nsrc/a.py:3: KeyError\n\n${during}\n\nE   ValueError: b`
    expect(errorTypeOf(twice)).toBe('ValueError')
  })

  it("is the first failure's when a later failure is a chain", () => {
    expect(errorTypeOf(`TypeError: a\nKeyError: 'a'\n\n${during}\n\nValueError: b`)).toBe(
      'TypeError',
    )
  })
})
