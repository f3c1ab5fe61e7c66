import type { Payload, Result } from '../../shared/contracts/catalog.ts'
import { encodeVector } from '../../shared/contracts/vector.ts'
import { crashPoint } from '../../shared/crash-point.ts'
import { observe } from '../../shared/metrics.ts'
import { span } from '../../shared/tracing.ts'
import type { Embed } from './model.ts'

/**
 * Turns texts into vectors, in their order. Between two texts the other running jobs have their
 * turn, so a search never waits for the whole of somebody's long list.
 */
export async function embedTexts(
  { texts }: Payload<'embeddings', 'embed'>,
  { signal }: { signal: AbortSignal },
  embed: Embed,
): Promise<Result<'embeddings', 'embed'>> {
  observe('astra_embedding_batch_texts', {}, texts.length)
  const vectors: string[] = []
  for (const text of texts) {
    signal.throwIfAborted()
    vectors.push(encodeVector(await span('embedding', {}, () => embed(text))))
  }
  crashPoint('embedder.embedded')
  return { vectors }
}
