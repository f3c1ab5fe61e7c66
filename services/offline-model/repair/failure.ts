import { type RetrievedFix, readMatches } from './retrieved-fix.ts'

/** What is known of a failure: from the first message, or from a later test run. */
export type Failure = {
  command: string | null
  /** Names of failing tests as the runner prints them; null when no list was given. */
  failing: string[] | null
  output: string
}

export type Request = {
  failure: Failure
  /** null: no search was made before the model was asked. */
  retrieved: RetrievedFix[] | null
}

const MARKERS = {
  command: 'The tests were run before you were asked:',
  failing: 'Failing tests:',
  output: 'Output:',
  memory: 'Memory search for this failure:',
}

/** Reads the message that starts a run. Missing parts are null or empty. */
export function readRequest(message: string): Request {
  const failing = section(message, MARKERS.failing)
  const memory = section(message, MARKERS.memory)
  return {
    failure: {
      command: section(message, MARKERS.command)?.split('\n')[0]?.trim() || null,
      failing: failing === null ? null : listed(failing),
      output: section(message, MARKERS.output) ?? message,
    },
    retrieved: memory === null ? null : readMatches(memory),
  }
}

/** The text after a marker that begins a line, up to the next marker. */
function section(message: string, marker: string): string | null {
  const start = message.search(new RegExp(`^[ \\t]*${marker}`, 'm'))
  if (start < 0) return null
  const from = message.indexOf(marker, start) + marker.length
  const others = Object.values(MARKERS).filter((other) => other !== marker)
  const next = message.slice(from).search(new RegExp(`^[ \\t]*(?:${others.join('|')})`, 'm'))
  return message.slice(from, next < 0 ? undefined : from + next).trim()
}

const listed = (text: string) =>
  text
    .split('\n')
    .map((line) => line.replace(/^\s*[-*•]\s+/, '').trim())
    .filter((line) => line !== '')

/** The part of a test's name that its source holds: without file, class and group. */
export function ownTestName(name: string): string {
  const last = name.split(/::| > | › /).at(-1) ?? name
  return last.replace(/\[[^\]]*\]$/, '').trim()
}

const errorName = /\b((?:[A-Z]\w*)?(?:Error|Exception|Warning))\b(?!\.py|\s*\()/

/** The class of the failure, such as `TypeError`; a plain failed comparison is `AssertionError`. */
export function errorTypeOf(output: string): string {
  const lines = output.split('\n')
  const shown = lines.filter((line) => /^\s*(?:E\s|\w*Error\b|error:|\w+Error \[)/.test(line))
  for (const line of [...shown, ...lines]) {
    const name = errorName.exec(line)?.[1]
    if (name && name !== 'Error') return name
  }
  return 'AssertionError'
}

/** The lines that say what went wrong, without the frames of test runners. */
export function failureLines(failure: Failure): string[] {
  const telling =
    /^\s*(?:E\s|[+-]\s|actual\b|expected\b|received\b)|\b\w*(?:Error|Exception)\b|!==|assert|expected .* to /i
  const noise =
    /error: \|-|^\s*(?:code|name|operator): |node:internal|node_modules|site-packages|^\s*at |^\s*duration_ms|^#|^\s*\.\.\.$/
  const lines = failure.output.split('\n').filter((line) => telling.test(line) && !noise.test(line))
  return [...new Set(lines.map((line) => line.trim()))].slice(0, 30)
}

/** A search query of at most 2,000 characters: the failing tests and what they showed. */
export function searchQuery(failure: Failure): string {
  const names = (failure.failing ?? []).slice(0, 10).map(ownTestName)
  const query = [...names, ...failureLines(failure)].join('\n').slice(0, 2000).trim()
  return query || failure.output.slice(0, 2000).trim() || 'failing tests'
}
