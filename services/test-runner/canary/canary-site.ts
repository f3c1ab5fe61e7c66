import type { TestEntry } from '../run/report.ts'

/** A folder that holds targets. */
export type CanarySite = {
  /** One of the targets there. */
  target: TestEntry
  /** The target's file; of Go, one of the package's. */
  path: string
  /** The texts of all files there that hold targets. */
  text: string
}

/** A test that must fail, written for one run alone. */
export type Canary = {
  path: string
  text: string
  /** The file of its entries in a report: of Go the package. */
  file: string
  /** The name of its entry, where its file holds others too. */
  name: string | null
  /** How many tests it has. */
  tests: number
}

export type CanaryText = Pick<Canary, 'text' | 'tests'>
