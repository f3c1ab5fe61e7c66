import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { loadCorpus } from './corpus.ts'
import { corpusFolder } from './corpus-folder.ts'
import { evaluate } from './evaluate.ts'
import { reportJson, reportText } from './report.ts'
import { storeCorpus } from './store-corpus.ts'

const usage = `usage: npm run eval:retrieval -- [--corpus DIR] [--json FILE] [--cv FOLDS]

  --corpus DIR   fixes.jsonl and queries.jsonl; without it, the project's own
  --json FILE    writes the numbers there as well
  --cv FOLDS     answers each query by a model fitted on the other folds of this corpus
`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { corpus: { type: 'string' }, json: { type: 'string' }, cv: { type: 'string' } },
  })
  const folds = values.cv === undefined ? null : Number(values.cv)
  if (folds !== null && !(Number.isInteger(folds) && folds >= 2 && folds <= 50)) {
    throw new TypeError(`--cv must be a whole number from 2 to 50, not ${values.cv}`)
  }
  const corpus = await loadCorpus(
    values.corpus === undefined ? corpusFolder : resolve(values.corpus),
  )
  const stored = await storeCorpus(corpus)
  try {
    const evaluation = await evaluate(corpus, stored, { folds })
    process.stdout.write(reportText(evaluation))
    if (values.json !== undefined) {
      const text = JSON.stringify(reportJson(evaluation), null, 2)
      await writeFile(resolve(values.json), `${text}\n`)
    }
  } finally {
    await stored.close()
  }
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  process.exitCode = 1
}
