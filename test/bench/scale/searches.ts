import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { flowJob } from '../../../shared/queue/producer.ts'
import { normaliseSymptom } from '../../../shared/symptom.ts'
import type { Session } from '../../chaos/session.ts'
import { loadCorpus } from '../../eval/corpus.ts'
import { corpusFolder } from '../../eval/corpus-folder.ts'
import { sampleRecord } from '../../support/memory.ts'

const SEARCHES = 600
const POLL_MS = 20

/** Fills the memory with the fixes of the evaluation corpus, through the CLI. */
export async function fillMemory({ astra, folder }: Session): Promise<void> {
  const { fixes } = await loadCorpus(corpusFolder)
  const lines = fixes.map(({ id, error_type, symptom, fix_description, file_paths }) =>
    JSON.stringify({
      ...sampleRecord({ session_id: id, error_type, symptom, fix_description, file_paths }),
      receipt: null,
    }),
  )
  const file = join(folder, 'fixes.jsonl')
  await writeFile(file, lines.join('\n'))
  const { code, stderr } = await astra.cli(['memory', 'import', file])
  if (code !== 0) throw new Error(`the fixes were not imported: ${stderr}`)
}

/**
 * Asks the corpus' queries as runs do, all at once, and waits until each has its answer: a flow of
 * embedding and search. Throws when one failed.
 */
export async function searchAll({ producer }: Session, round: string): Promise<{ units: number }> {
  const { queries } = await loadCorpus(corpusFolder)
  const searches = Array.from({ length: SEARCHES }, (_, n) => {
    const { query, error_type } = queries[n % queries.length] ?? { query: '-', error_type: null }
    const id = `scale-${round}-${n}`
    const texts = [normaliseSymptom(query) || query]
    const embed = flowJob('embeddings', 'embed', { texts }, `${id}-embed`)
    return flowJob('memory', 'search', { query, error_type, top_k: 3 }, id, [embed])
  })
  await Promise.all(searches.map((search) => producer.addFlowOnce(search)))
  const memory = producer.queue('memory')
  const last = new Set(searches.map(({ opts }) => opts?.jobId ?? ''))
  for (; last.size > 0; await delay(POLL_MS)) {
    const [next = ''] = last
    const state = await memory.getJobState(next)
    if (state === 'failed') throw new Error(`the search ${next} failed`)
    if (state !== 'completed') continue
    // In order of adding, mostly: so looking at one at a time costs few questions.
    last.delete(next)
    for (const id of last) {
      if ((await memory.getJobState(id)) !== 'completed') break
      last.delete(id)
    }
  }
  return { units: SEARCHES }
}
