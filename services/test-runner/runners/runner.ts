import type { ParsedReport, RawReport } from '../run/report.ts'

/** How one test runner is started and how its report is read. */
export type TestRunnerAdapter = {
  /**
   * The command that runs the tests and writes its report to `reportFile`: a program by name, found
   * on the PATH of the tests' environment, and its arguments. `args` are the workspace's own,
   * `reporters` is the folder of our own reporters as the tests see it, and `files` are those to run
   * instead of all that the command names (of Go: packages), or null.
   */
  argv(input: {
    args: readonly string[]
    reportFile: string
    reporters: string
    files: readonly string[] | null
  }): readonly [string, ...string[]]
  /** Tolerant of anything: what is not a report of this runner is unreadable, never an exception. */
  parse(report: RawReport): ParsedReport
  /** What a person does when the program is not there. */
  installHint: string
  /** The output, as a person would see it without our report flags. */
  readableOutput?(stdout: string): string
}
