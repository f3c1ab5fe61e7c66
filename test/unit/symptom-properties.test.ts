import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorTypeOf, normaliseSymptom } from '../../shared/symptom.ts'

const folder = join(import.meta.dirname, '../fixtures/symptoms')
const outputs = readdirSync(folder)
  .filter((name) => name.endsWith('.txt'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
const lines = [...new Set(outputs.flatMap((output) => output.split('\n')))]

const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...lines),
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom('| ', '> 3 | ', '# ', 'ERROR ', '[ERROR] ', '12:00:00 ', '/home/a/', ':12'),
      fc.constantFrom('\n', '\n\n', '\r', ' ', '\u001b[31m', '\ud83d', '\udc00'),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''))

/** The same output from another machine, at another time, of a source that has grown. */
const otherPlace = fc.record({
  root: fc.constantFrom(
    '/tmp/astra-x1Y2z3/shop',
    '/Users/bob/Shop',
    '/builds/shop',
    '/root/a/shop',
  ),
  shift: fc.integer({ min: 0, max: 9 }),
  address: fc.integer({ min: 0x100000, max: 0x7fffffffffff }),
  port: fc.integer({ min: 32_768, max: 60_999 }),
  duration: fc.integer({ min: 0, max: 99_999 }),
})

type Place = typeof otherPlace extends fc.Arbitrary<infer T> ? T : never

function seenAt(output: string, place: Place): string {
  const number = (digits: string) => String(Number(digits) + place.shift)
  const lineNumber = /(\.(?:py|m?js|go|rs|java|kt|cs|rb|php):(?:line )?|", line )(\d+)/g
  return output
    .replaceAll('/home/ann/shop', place.root)
    .replace(lineNumber, (_, before: string, digits: string) => before + number(digits))
    .replace(/0x[0-9a-f]{6,}/g, `0x${place.address.toString(16)}`)
    .replaceAll('43211', String(place.port))
    .replaceAll('43210', String(place.port))
    .replace(/\d+\.\d+( ?m?s\b)/g, `${place.duration / 1000}$1`)
    .replace(/duration_ms:? [\d.]+/g, `duration_ms: ${place.duration / 7}`)
    .replace(/(?<=goroutine |' \(|\(node:|-exec-|Task-)\d+/g, number)
    .replace(/\d\d:\d\d:\d\d/g, '04:08:15')
    .replace(/pytest-\d+\//g, `pytest-${place.shift}/`)
}

const hostile = [
  'a',
  ' ',
  '/',
  'a.',
  '\\a',
  ':1',
  '\u001b]',
  '\u001b[',
  ';',
  'A::',
  'at ',
  '^',
  '../',
]
  .concat(['_ ', '|1', 'Error: x\n', 'KeyError: a\n', 'x.py:1: E\n', 'a.b(c)\n\tx.go:1\n'])
  .concat(['    a\n', '✖ a\n', 'FAILED a::b - c\n', 'Error', '1s ', '10:10:10 ', '\ud83d', '\n'])

describe('normaliseSymptom', () => {
  it('changes nothing in a second pass', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = normaliseSymptom(text)
        expect(normaliseSymptom(once)).toBe(once)
      }),
      { numRuns: 500 },
    )
  })

  it('takes any text and gives a well-formed one of at most 4,000 characters', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 400 }), (text, times) => {
        const result = normaliseSymptom(text.repeat(times).slice(0, 200_000))
        expect(result.length).toBeLessThanOrEqual(4_000)
        expect(result.isWellFormed()).toBe(true)
        expect(typeof errorTypeOf(text)).toBe('string')
      }),
      { numRuns: 50 },
    )
  })

  it('gives one text for two sights of a failure at other paths, lines, times and ports', () => {
    fc.assert(
      fc.property(fc.constantFrom(...outputs), otherPlace, (output, place) => {
        const elsewhere = seenAt(output, place)
        expect(normaliseSymptom(elsewhere)).toBe(normaliseSymptom(output))
        expect(errorTypeOf(elsewhere)).toBe(errorTypeOf(output))
      }),
      { numRuns: 300 },
    )
  })

  it.each(hostile)('needs less than two seconds of a processor for 1 MB of %j', (unit) => {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length))
    const start = process.cpuUsage()
    normaliseSymptom(text)
    errorTypeOf(text)
    expect(process.cpuUsage(start).user).toBeLessThan(2_000_000)
  })
})
