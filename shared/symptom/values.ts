const UNIT = '(?:ns|µs|us|ms|s|secs?|seconds?|m|mins?|minutes?)'
const CLOCK = '\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?'
const ZONE = '(?: ?(?:Z|UTC|[+-]\\d\\d:?\\d\\d)\\b)?'

/** Times that a test compares are what it is about; others say when something was seen. */
const COMPARISON =
  /\b(?:expected|actual|got|want|received|left|right|but was|to equal|to be)\b|[!=]==?|^\s*[+-]\s/i
const TIMES: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(`(?<!['"\`\\d])\\b\\d{4}[-/]\\d\\d[-/]\\d\\d[T ]${CLOCK}${ZONE}(?!['"\`\\d])`, 'g'),
    '<time>',
  ],
  [new RegExp(`\\b\\d\\d/[A-Z][a-z]{2}/\\d{4}[: ]${CLOCK}${ZONE}`, 'g'), '<time>'],
  [new RegExp(`(?<!['"\`\\d:.T-])\\b${CLOCK}(?!['"\`\\d:])`, 'g'), '<time>'],
  [/(?<!['"`\w.-])1[5-9]\d{8}(?:\.\d+)?(?!['"`\w-])/g, '<time>'],
]

/** What differs between two sights of one failure, in the order in which it is taken out. */
const NOISE: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/("(?:time|timestamp|ts|at)"\s*:\s*)(?:"[^"\n]*"|\d+)/g, '$1<time>'],
  [/\b(duration_ms:?) +[\d.]+/g, '$1'],
  [
    new RegExp(
      `\\b((?:dur|duration|elapsed|took|latency|\\w+_time)(?:_?ms)?["']?[=:]) ?\\d+(?:\\.\\d+)?(?: ?${UNIT}\\b)?`,
      'gi',
    ),
    '$1<duration>',
  ],
  [new RegExp(` ?[([]\\d+(?:\\.\\d+)? ?${UNIT}(?: ?\\d+(?:\\.\\d+)? ?${UNIT})?[)\\]]`, 'g'), ''],
  // A limit that was reached is a setting; what something took is not.
  [
    new RegExp(`(?<!timed out )\\b(in|took|after|waited) \\d+(?:\\.\\d+)? ?${UNIT}\\b`, 'g'),
    '$1 <duration>',
  ],
  [/\btimed out after \d+(?:\.\d+)? ?(?:ms|s)\b/g, 'timed out after <duration>'],
  [/ \+0x[0-9a-f]+$/, ''],
  [/^[\s|]*\^+ (?=\S)/, '  '],
  [/\b(at |pc=|addr=)0x[0-9a-f]+/gi, '$10x'],
  [/\b0x[0-9a-f]{6,}\b/gi, '0x'],
  [/\b([A-Z][\w$]*)@[0-9a-f]{5,8}\b/g, '$1@<id>'],
  [/ \[recovered(?:, repanicked)?\]$/, ''],
  [/^(thread '.*') \(\d+\) panicked/, '$1 panicked'],
  [/^\(node:\d+\) /, ''],
  [/\b(?=[a-f]*\d)[0-9a-f]{16,}\b/gi, '<id>'],
  [/\b\d{12,}\b/g, '<id>'],
  [/(['"]), line \d+/g, '$1'],
  [/\b(line|column|col):? \d+(?![\w.])/gi, '$1'],
  [/\bgoroutine \d+/g, 'goroutine'],
  [/\b(goroutine \[[^\],]*), \d+ minutes\]/g, '$1]'],
  [/\b(pid[ =:]+)\d+/gi, '$1<pid>'],
  [/\b((?:[A-Za-z]*(?:[Tt]ask|[Tt]hread|[Ww]orker|[Pp]ool|[Dd]ispatcher|exec)))-\d+\b/g, '$1'],
  [/\b(localhost|\d{1,3}(?:\.\d{1,3}){3}|\[::1\]|::1):(?:3[2-9]|[4-6]\d)\d{3}\b/g, '$1:<port>'],
  [/\b(port["']?[ :=]+)(?:3[2-9]|[4-6]\d)\d{3}\b/gi, '$1<port>'],
  [/\[Previous line repeated \d+ more times?\]/g, '[Previous line repeated]'],
]

/** A line without times, durations, addresses, ids and other values that no two runs share. */
export function withoutPassingValues(line: string): string {
  const rules = COMPARISON.test(line) ? NOISE : [...TIMES, ...NOISE]
  return rules.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line)
}
