import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { recordProfile } from '../../../services/memory-store/retrieval/text-profile.ts'
import { productRoot } from '../../../shared/config.ts'
import { loadCorpus } from '../corpus.ts'
import { corpusFolder } from '../corpus-folder.ts'

/** Writes the stems of the corpus's failures and fixes, repetitions and all. */
const { fixes } = await loadCorpus(corpusFolder)
const profiles = fixes.map((fix) => recordProfile({ ...fix, symptom_raw: fix.symptom }))
const failures = profiles.map(({ whole }) =>
  [...whole.stems].flatMap(([stem, count]) => new Array<string>(count).fill(stem)).join(' '),
)
const terms = profiles.reduce((sum, { symptom }) => sum + symptom.length, 0)
const background = { symptomLength: Math.round(terms / fixes.length), failures }
const file = join(productRoot, 'services/memory-store/retrieval/background.json')
await writeFile(file, `${JSON.stringify(background, null, 2)}\n`)
process.stdout.write(`${failures.length} failures: ${file}\n`)
