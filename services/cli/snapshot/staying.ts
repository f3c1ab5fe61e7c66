import { inMegabytes } from '../../../shared/blobs/blobs.ts'
import type { PublishedRun } from '../../../shared/blobs/published-run.ts'

/** What of a published run's packages no other machine has, in words for its person; null for nothing. */
export function stayingText({ dependencies, outside }: PublishedRun): string | null {
  const large = dependencies
    .filter(({ tree }) => tree === null)
    .map(
      ({ target, bytes }) =>
        `${target} (${inMegabytes(bytes)}, too large without ASTRA_SHARED_DIR)`,
    )
  const staying = [...large, ...outside]
  if (staying.length === 0) return null
  return `only a test-runner on this machine can run these tests; what they use stays here: ${staying.join(', ')}`
}
