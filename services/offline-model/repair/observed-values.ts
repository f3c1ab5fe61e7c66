/** A value that a test saw beside the one it wanted, as they were printed. */
export type Observation = { actual: string; expected: string }

type Pattern = { find: RegExp; actual: number; expected: number }

const patterns: Pattern[] = [
  { find: /^\s*expected: (.+?),?\n\s*actual: (.+?),?$/gm, actual: 2, expected: 1 },
  {
    find: /^\s*(?:E\s+)?actual: (.+?),?\n\s*(?:E\s+)?expected: (.+?),?$/gm,
    actual: 1,
    expected: 2,
  },
  { find: /^\s*(?:\w+: )?(\S.*?) !== (.+?)$/gm, actual: 1, expected: 2 },
  { find: /^E\s+(?:AssertionError: )?assert (.+?) (?:==|is) (.+)$/gm, actual: 1, expected: 2 },
  { find: /AssertionError: (.+?) != (.+?)(?: : .*)?$/gm, actual: 1, expected: 2 },
  {
    find: /expected (.+?) to (?:be|equal|deeply equal|strictly equal|loosely equal) (.+?)(?: \/\/.*)?$/gm,
    actual: 1,
    expected: 2,
  },
  { find: /^\s*Expected: (.+)\n\s*Received: (.+)$/gm, actual: 2, expected: 1 },
  // Node and pytest mark what was seen with "+"; jest and vitest mark it so too.
  {
    find: /^(?:E\s+)?\s*\+ (?!actual)(.+)\n(?:E\s+)?\s*- (?!expected)(.+)$/gim,
    actual: 1,
    expected: 2,
  },
  {
    find: /^(?:E\s+)?\s*- (?!expected)(.+)\n(?:E\s+\?.*\n)?(?:E\s+)?\s*\+ (?!actual|received)(.+)$/gim,
    actual: 2,
    expected: 1,
  },
]

/** The pairs in a test run's output, without repetitions. */
export function observationsIn(output: string): Observation[] {
  const pairs = patterns.flatMap(({ find, actual, expected }) =>
    [...output.matchAll(find)].map((match) => ({
      actual: (match[actual] ?? '').trim(),
      expected: (match[expected] ?? '').trim(),
    })),
  )
  const seen = new Set<string>()
  return pairs.filter(({ actual, expected }) => {
    const key = JSON.stringify([actual, expected])
    const fresh = !seen.has(key) && actual !== expected
    seen.add(key)
    return fresh
  })
}

export type Value =
  | { kind: 'string'; value: string }
  | { kind: 'number'; value: number }
  | { kind: 'boolean'; value: boolean }
  | { kind: 'nothing' }
  | { kind: 'list'; items: string[] }
  | { kind: 'other' }

/** What a printed value was, as far as its text tells. */
export function readValue(printed: string): Value {
  const text = printed.replace(/,$/, '').trim()
  const quoted = /^(['"`])([\s\S]*)\1$/.exec(text)
  if (quoted) return { kind: 'string', value: quoted[2] ?? '' }
  if (/^(?:None|null|undefined|NaN|nan|~)$/.test(text)) return { kind: 'nothing' }
  if (/^(?:true|false)$/i.test(text)) return { kind: 'boolean', value: /^t/i.test(text) }
  if (/^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) {
    return { kind: 'number', value: Number(text) }
  }
  const list = /^[[({]([\s\S]*)[\])}]$/.exec(text)
  if (list) {
    const items = (list[1] ?? '').split(',').map((item) => item.trim())
    return { kind: 'list', items: items.filter((item) => item !== '') }
  }
  return { kind: 'other' }
}
