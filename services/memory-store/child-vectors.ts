import { z } from 'zod'
import { catalog } from '../../shared/contracts/catalog.ts'
import { decodeVector } from '../../shared/contracts/vector.ts'
import { MemoryValidationError, UnavailableError } from '../../shared/errors.ts'
import type { JobContext } from '../../shared/queue/consumer.ts'

/**
 * The vectors that the job's `embed` child made, in the order of its texts. Throws
 * UnavailableError when the child failed or is missing, MemoryValidationError when it left
 * something else than vectors of the right length, at least `least` and at most `most` of them.
 */
export async function childVectors(
  { children }: Pick<JobContext, 'children'>,
  least: number,
  most = least,
): Promise<Float32Array[]> {
  const [child] = await children()
  if (!child) throw new UnavailableError('the job came without vectors: it has no embed child')
  if (!child.ok) throw new UnavailableError(`the embedder failed: ${child.error}`)
  const result = catalog.embeddings.jobs.embed.result.safeParse(child.value)
  if (!result.success) {
    const text = z.prettifyError(result.error)
    throw new MemoryValidationError(`the embedder's answer does not fit: ${text}`)
  }
  const { vectors } = result.data
  if (vectors.length < least || vectors.length > most) {
    const wanted = least === most ? `${least}` : `${least} to ${most}`
    throw new MemoryValidationError(
      `the embedder must give ${wanted} vectors and gave ${vectors.length}`,
    )
  }
  return vectors.map(decodeVector)
}
