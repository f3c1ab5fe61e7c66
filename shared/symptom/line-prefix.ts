const CLOCK = '\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?'
const DATE = '(?:\\d{4}[-/]\\d\\d[-/]\\d\\d|[A-Z][a-z]{2} [ \\d]\\d)'
const STAMP = `(?:${DATE}[T ])?${CLOCK}(?: ?(?:Z|UTC|[+-]\\d\\d:?\\d\\d))?`

/** What programs print before a line: it tells who said something and when, not what went wrong. */
const PREFIXES: readonly (readonly [RegExp, string])[] = [
  // docker compose
  [/^[\w.-]+-\d+ +\| ?/, ''],
  // TAP and node --test: what a test printed
  [/^# (?=\S| {2,}\S)/, ''],
  // Maven
  [/^\[(?:ERROR|INFO|WARNING)\] ?/, ''],
  // A source line's number, as vitest, jest, rustc and tsc print it; groups of exceptions in Python
  [/^ *(?:> *)?(?:\d+ *)?\| ?/, '  '],
  [new RegExp(`^\\[${STAMP}(?:: [A-Z]+(?:/[\\w-]+)?)?\\]:? *`), ''],
  [new RegExp(`^${STAMP} +(?:\\[\\d+\\] )?`), ''],
  [new RegExp(`^time="?${STAMP}"? +`), ''],
  [/^\d{1,3}(?:\.\d{1,3}){3}(?::\d+)? - - \[[^\]]*\] /, ''],
  [/^pid=\d+ (?:tid=\w+ )?/, ''],
  // Spring: process and thread
  [/^([A-Z]+) +\d+ --- (?:\[[\w. -]*\] )+/, '$1 '],
  // pytest's captured log
  [/^(CRITICAL|ERROR|WARNING|INFO|DEBUG) +([\w.]+):\w+\.py:\d+ /, '$1 $2 '],
  [/^(?:CRITICAL|ERROR|WARN|WARNING|INFO|DEBUG|TRACE):? +(?=[[\w])(?!\S+::|\S+\.py$)/, ''],
]

export function withoutPrefix(line: string): string {
  return PREFIXES.reduce((text, [pattern, by]) => text.replace(pattern, by), line)
}
