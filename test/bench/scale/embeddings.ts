import { ask } from '../../../shared/queue/ask.ts'
import { flowJob } from '../../../shared/queue/producer.ts'
import type { Session } from '../../chaos/session.ts'
import { loadCorpus } from '../../eval/corpus.ts'
import { corpusFolder } from '../../eval/corpus-folder.ts'

const JOBS = 40
const TEXTS_A_JOB = 16
const LIMIT_MS = 120_000

/** Embeds symptoms in jobs of many texts, so that queues and answers cost little beside it. */
export async function embedAll({ producer }: Session, round: string): Promise<{ units: number }> {
  const { fixes } = await loadCorpus(corpusFolder)
  const jobs = Array.from({ length: JOBS }, (_, job) => {
    const texts = Array.from(
      { length: TEXTS_A_JOB },
      (_, n) => fixes[(job * TEXTS_A_JOB + n) % fixes.length]?.symptom || '-',
    )
    const flow = flowJob('embeddings', 'embed', { texts }, `scale-embed-${round}-${job}`)
    const asked = { ...flow, queueName: 'embeddings' as const, name: 'embed' as const }
    return ask(producer, asked, { timeoutMs: LIMIT_MS })
  })
  const answers = await Promise.all(jobs)
  return { units: answers.reduce((sum, { vectors }) => sum + vectors.length, 0) }
}
