import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RelevanceModel } from '../../../services/memory-store/retrieval/relevance-model.ts'
import { productRoot } from '../../../shared/config.ts'
import { loadCorpus } from '../corpus.ts'
import { corpusFolder } from '../corpus-folder.ts'
import { storeCorpus } from '../store-corpus.ts'
import { chooseThresholds } from './choose-thresholds.ts'
import { fitModel } from './fit-model.ts'

/**
 * Fits the relevance model to the project's corpus and writes its weights. The thresholds are
 * chosen on queries that the model had not seen.
 */
const corpus = await loadCorpus(corpusFolder)
const stored = await storeCorpus(corpus)
try {
  const thresholds = await chooseThresholds(corpus, stored)
  const model = rounded(
    fitModel({ written: stored.cases, observed: stored.observed }, corpus, thresholds),
  )
  const file = join(productRoot, 'services/memory-store/retrieval/weights.json')
  await writeFile(file, `${JSON.stringify(model, null, 2)}\n`)
  process.stdout.write(`${file}\n${JSON.stringify(model, null, 2)}\n`)
} finally {
  await stored.close()
}

/** To four digits: more would only differ from machine to machine. */
function rounded(model: RelevanceModel): RelevanceModel {
  return JSON.parse(JSON.stringify(model), (_, value) =>
    typeof value === 'number' ? Number(value.toPrecision(4)) : value,
  )
}
