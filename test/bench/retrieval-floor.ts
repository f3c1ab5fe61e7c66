import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { bundledModel, type Embed, loadModel } from '../../services/embedder/model.ts'
import type { MemoryBackend } from '../../services/memory-store/backend.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { memoryIdOf } from '../../shared/contracts/ids.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { normaliseSymptom } from '../../shared/symptom.ts'
import { sampleRecord } from '../support/memory.ts'

/**
 * Says what each relevance floor would cost and spare, on a corpus of stored fixes and labelled
 * queries: `node test/bench/retrieval-floor.ts FOLDER`, with `fixes.jsonl` and `queries.jsonl` in it.
 */
const fixSchema = z.object({
  id: z.string(),
  error_type: z.string(),
  symptom: z.string(),
  fix_description: z.string(),
  file_paths: z.array(z.string()),
  outcome: z.string(),
})
const querySchema = z.object({
  id: z.string(),
  kind: z.enum(['recurrence', 'transfer', 'cross-language', 'no-match']),
  query: z.string(),
  error_type: z.string().nullable(),
  relevant: z.array(z.string()),
  near_miss_of: z.array(z.string()).optional(),
})
type Fix = z.infer<typeof fixSchema>

/** One query's answers, best first, before any floor. */
type Answer = { group: string; relevant: string[]; found: { id: string; cosine: number }[] }

const TOP_K = 3
const floors = Array.from({ length: 13 }, (_, step) => 0.2 + step * 0.05)

async function readLines<T>(schema: z.ZodType<T>, path: string): Promise<T[]> {
  const text = await readFile(path, 'utf8')
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => schema.parse(JSON.parse(line)))
}

/** Stores the fixes and returns the corpus id of each record. */
async function storeFixes(backend: MemoryBackend, embed: Embed, fixes: Fix[]) {
  const corpusIds = new Map<string, string>()
  for (const fix of fixes) {
    const { id, error_type, symptom, fix_description, file_paths, outcome } = fix
    const identity = { session_id: id, error_type, fix_description, file_paths, outcome }
    const record = sampleRecord({ ...identity, symptom })
    const vectors = {
      symptom: await embed(normaliseSymptom(symptom)),
      fix: await embed(fix_description),
    }
    await backend.upsert(record, vectors)
    corpusIds.set(memoryIdOf(identity), id)
  }
  return corpusIds
}

async function answerQueries(folder: string, backend: MemoryBackend, embed: Embed) {
  const fixes = await readLines(fixSchema, join(folder, 'fixes.jsonl'))
  const queries = await readLines(querySchema, join(folder, 'queries.jsonl'))
  const corpusIds = await storeFixes(backend, embed, fixes)
  const answers: Answer[] = []
  for (const { query, kind, error_type, relevant, near_miss_of } of queries) {
    const unrelated = near_miss_of === undefined ? 'unrelated' : 'near miss'
    const candidates = await backend.search(await embed(normaliseSymptom(query)), {
      errorType: error_type,
      limit: TOP_K,
    })
    answers.push({
      group: kind === 'no-match' ? unrelated : kind,
      relevant,
      found: candidates.map(({ record, cosine }) => ({
        id: corpusIds.get(record.memory_id) ?? '',
        cosine,
      })),
    })
  }
  return answers
}

/** Share of the answers of `groups` that hold a right fix (or, where none is right, any) above the floor. */
function share(answers: Answer[], groups: string[], floor: number): string {
  const chosen = answers.filter(({ group }) => groups.includes(group))
  const hits = chosen.filter(({ relevant, found }) =>
    found.some(
      ({ id, cosine }) => cosine >= floor && (relevant.length === 0 || relevant.includes(id)),
    ),
  )
  return `${((100 * hits.length) / chosen.length).toFixed(0)} %`.padStart(7)
}

const columns: [title: string, groups: string[]][] = [
  ['recurrence', ['recurrence']],
  ['transfer', ['transfer']],
  ['cross-lang', ['cross-language']],
  ['all right', ['recurrence', 'transfer', 'cross-language']],
  ['near miss', ['near miss']],
  ['unrelated', ['unrelated']],
]

async function main(folder: string): Promise<void> {
  const temporary = await mkdtemp(join(tmpdir(), 'astra-bench-'))
  const file = join(temporary, 'memory.db')
  const backend = openSqliteBackend({ file, dimensions: DIMENSIONS })
  try {
    const answers = await answerQueries(folder, backend, await loadModel(bundledModel))
    const lines = floors.map((floor) =>
      [
        floor.toFixed(2).padStart(5),
        ...columns.map(([, groups]) => share(answers, groups, floor).padStart(12)),
      ].join(''),
    )
    const head = `floor${columns.map(([title]) => title.padStart(12)).join('')}`
    const note = `Right fix within the first ${TOP_K} (recall), and answered at all where no fix is right:`
    process.stdout.write([note, head, ...lines, ''].join('\n'))
  } finally {
    await backend.close()
    await rm(temporary, { recursive: true, force: true })
  }
}

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  process.stderr.write('usage: node test/bench/retrieval-floor.ts FOLDER\n')
  process.exitCode = 2
} else {
  await main(folder)
}
