import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { comparedStems } from '../../../services/memory-store/retrieval/text-profile.ts'
import { productRoot } from '../../../shared/config.ts'
import { normaliseSymptom } from '../../../shared/symptom.ts'
import { loadCorpus } from '../corpus.ts'
import { corpusFolder } from '../corpus-folder.ts'

/** Writes how many of the corpus's failures have a word, for the words that more than one has. */
const { fixes } = await loadCorpus(corpusFolder)
const documents = fixes.map(({ error_type, symptom, fix_description }) =>
  comparedStems(`${error_type}\n${normaliseSymptom(symptom)}\n${fix_description}`),
)
const counts = new Map<string, number>()
for (const stem of documents.flatMap((stems) => [...new Set(stems)])) {
  counts.set(stem, (counts.get(stem) ?? 0) + 1)
}
const frequency = [...counts].filter(([, n]) => n > 1).sort(([a], [b]) => (a < b ? -1 : 1))
const averageLength = Math.round(documents.flat().length / documents.length)
const background = {
  documents: documents.length,
  averageLength,
  frequency: Object.fromEntries(frequency),
}
const file = join(productRoot, 'services/memory-store/retrieval/background.json')
await writeFile(file, `${JSON.stringify(background, null, 2)}\n`)
process.stdout.write(`${frequency.length} words of ${documents.length} failures: ${file}\n`)
