import type { TranscriptLine } from './read-transcript.ts'

/** How many of the original tests passed, as the signed verification of a run says. */
export type OriginalTests = { passed_before: number; passed_after: number }

/** null when nothing was confirmed. */
export function originalTests(lines: TranscriptLine[]): OriginalTests | null {
  const line = lines.findLast((each) => each.type === 'verification')
  if (line?.type !== 'verification' || !line.receipt) return null
  const { b1, p1 } = line.receipt.body.results
  return { passed_before: b1.passed, passed_after: p1.passed }
}

export function originalTestsText(tests: OriginalTests | null): string {
  if (!tests) return 'not verified'
  return `${tests.passed_before} passed before, ${tests.passed_after} after`
}
