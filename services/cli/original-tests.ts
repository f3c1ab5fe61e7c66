import type { TranscriptLine } from './read-transcript.ts'

/** How many of the original tests passed, as the signed verification of a run says. */
export type OriginalTests = { passed_before: number; passed_after: number }

/** null when nothing was confirmed. */
export function originalTests(lines: TranscriptLine[]): OriginalTests | null {
  const line = lines.findLast((each) => each.type === 'verification')
  if (line?.type !== 'verification' || !line.receipt) return null
  const { passed_before, passed_after } = line.receipt.body
  return { passed_before, passed_after }
}

export function originalTestsText(tests: OriginalTests | null): string {
  if (!tests) return 'not verified'
  return `${tests.passed_before} passed before, ${tests.passed_after} after`
}
