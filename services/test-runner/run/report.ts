import { isAbsolute, relative, sep } from 'node:path'

export type TestStatus = 'passed' | 'failed' | 'skipped'

/** One test of one run. `skipped` covers todo and expected failures: they prove nothing. */
export type TestEntry = {
  id: string
  /** Relative to the workspace, with forward slashes; for Go the package, for cargo the crate. */
  file: string
  name: string
  status: TestStatus
  /** What the runner says of the failure; empty otherwise. */
  message: string
}

export type ParsedReport = { readable: true; tests: TestEntry[] } | { readable: false; why: string }

/** What a run left behind, for a parser. */
export type RawReport = {
  /** The report file's text, or null when none was written. */
  file: string | null
  stdout: string
  stderr: string
  exitCode: number | null
  /** The folder that the tests ran in. */
  root: string
}

/** A test as a parser found it, before ids are given. */
export type FoundTest = {
  file: string
  suites: readonly string[]
  name: string
  status: TestStatus
  message: string
  /** A hook has an entry only when it failed. */
  isHook?: boolean
}

/** A file that did not load or a hook that failed: it stands for tests that had no chance to run. */
export const standsForTests = (id: string) => /^(file|hook):/.test(id)

/** A file that did not load: it stands for all the tests that it may have. */
export function brokenFile(file: string, message: string): TestEntry {
  return { id: `file:${file}`, file, name: file, status: 'failed', message }
}

/** Gives ids of file, suites, name and occurrence: some runners allow the same name twice. */
export function withIds(found: readonly FoundTest[], separator = ' > '): TestEntry[] {
  const seen = new Map<string, number>()
  return found.map(({ file, suites, name, status, message, isHook }) => {
    const path = (isHook ? 'hook:' : '') + [file, ...suites, name].join(separator)
    const occurrence = (seen.get(path) ?? 0) + 1
    seen.set(path, occurrence)
    const id = occurrence === 1 ? path : `${path} #${occurrence}`
    return { id, file, name: [...suites, name].join(separator), status, message }
  })
}

export function unreadable(why: string): ParsedReport {
  return { readable: false, why }
}

/** A report's file name relative to the folder that the tests ran in. */
export function testFile(root: string, file: string): string {
  const inside = isAbsolute(file) ? relative(root, file) : file
  return inside.split(sep).join('/')
}

/** The values of a file of JSON lines; null when a line is not JSON. */
export function jsonLines(text: string): unknown[] | null {
  try {
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line))
  } catch {
    return null
  }
}
