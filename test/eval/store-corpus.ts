import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { bundledModel, type Embed, loadModel } from '../../services/embedder/model.ts'
import type { Candidate, MemoryBackend } from '../../services/memory-store/backend.ts'
import type { Asked } from '../../services/memory-store/retrieval/features.ts'
import { CANDIDATES } from '../../services/memory-store/search-memory.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { storeMemory } from '../../services/memory-store/store-memory.ts'
import { DIMENSIONS, encodeVector } from '../../shared/contracts/vector.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import type { JobContext } from '../../shared/queue/consumer.ts'
import { createScrubber } from '../../shared/scrub/scrubber.ts'
import { normaliseSymptom } from '../../shared/symptom.ts'
import { samplePayload, shareAll } from '../support/memory.ts'
import type { Corpus, Fix, Query } from './corpus.ts'

/** A query with everything that the store could answer it with. */
export type Case = {
  query: Query
  asked: Asked
  /** Of the query as the product embeds it, and of its raw text. */
  vectors: { normalised: Float32Array; raw: Float32Array }
  /** What a search finds when it looks at the error type's records, where there are any, and at all. */
  looks: Found[][]
  /** In a fit. */
  weight: number
}

/** A candidate by its fix's id. */
export type Found = { id: string; candidate: Candidate }

/** Symptoms that nobody asked with count less than written queries. */
const OBSERVED = 0.1

export type StoredCorpus = {
  home: string
  backend: MemoryBackend
  cases: Case[]
  /**
   * Each fix's whole symptom, asked of a store without fixes of its error type: as long as what a run
   * sends, and without a match. For fitting alone.
   */
  observed: Case[]
  /** The fix that a record was made of. */
  fixOf(memoryId: string): string
  close(): Promise<void>
}

/** Stores every fix, with a receipt, in a real store of its own, and asks each query of it once. */
export async function storeCorpus({ fixes, queries }: Corpus): Promise<StoredCorpus> {
  const home = await mkdtemp(join(tmpdir(), 'astra-eval-'))
  const backend = openSqliteBackend({ file: join(home, 'memory.db'), dimensions: DIMENSIONS })
  const embed = await loadModel(bundledModel)
  const ids = new Map<string, string>()
  for (const fix of fixes) ids.set(await storeFix(fix, { home, backend, embed }), fix.id)
  const fixOf = (memoryId: string) => ids.get(memoryId) ?? ''
  const ask = (query: Query) => askOf({ query, backend, embed, fixOf })
  const cases: Case[] = []
  for (const query of queries) cases.push(await ask(query))
  const observed: Case[] = []
  for (const fix of fixes) {
    const asked = await ask(observedQuery(fix))
    const others = fixes.filter(({ error_type }) => error_type !== fix.error_type)
    const left = new Set(others.map(({ id }) => id))
    observed.push({
      ...asked,
      weight: OBSERVED,
      looks: asked.looks.map((found) => found.filter(({ id }) => left.has(id))),
    })
  }
  return {
    home,
    backend,
    cases,
    observed,
    fixOf,
    async close() {
      await backend.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

function observedQuery({ id, symptom }: Fix): Query {
  const asked = { id: `${id} observed`, query: symptom, error_type: null }
  return { ...asked, kind: 'unrelated', relevant: [], graded: {} }
}

async function askOf(question: {
  query: Query
  backend: MemoryBackend
  embed: Embed
  fixOf(memoryId: string): string
}): Promise<Case> {
  const { query, backend, embed, fixOf } = question
  const text = normaliseSymptom(query.query)
  const vectors = { normalised: await embed(text), raw: await embed(query.query) }
  const look = async (errorType: string | null): Promise<Found[]> => {
    const found = await backend.candidates({
      errorType,
      scope: null,
      notBefore: null,
      vectors: [vectors.normalised],
      text: `${query.error_type ?? ''}\n${text}`,
      limit: CANDIDATES,
    })
    return found.map((candidate) => ({ id: fixOf(candidate.record.memory_id), candidate }))
  }
  const narrow = query.error_type === null ? [] : await look(query.error_type)
  return {
    query,
    asked: { texts: [text], raw: [query.query], errorType: query.error_type },
    vectors,
    looks: [...(narrow.length > 0 ? [narrow] : []), await look(null)],
    weight: 1,
  }
}

async function storeFix(
  fix: Fix,
  store: { home: string; backend: MemoryBackend; embed: Embed },
): Promise<string> {
  const { home, backend, embed } = store
  const { error_type, fix_description, file_paths } = fix
  const claim = { error_type, fix_description, file_paths }
  const payload = samplePayload(loadSigningKey(home), fix.id, claim)
  const symptom = normaliseSymptom(fix.symptom)
  payload.evidence = { ...payload.evidence, symptom_raw: fix.symptom, symptom, diff: '' }
  const vectors = [await embed(symptom), await embed(fix_description)]
  const deps = { backend, home, policy: shareAll, scrub: createScrubber([]) }
  const stored = await storeMemory(payload, embeddedJob(vectors), deps)
  if (stored.stored) return stored.memory_id
  throw new Error(`fix ${fix.id} was not stored: ${stored.message}`)
}

/** The context of a job whose embed child gave these vectors. */
export function embeddedJob(vectors: Float32Array[]): Pick<JobContext, 'children' | 'log'> {
  const value = { vectors: vectors.map(encodeVector) }
  return { children: async () => [{ ok: true, value }], log: pino({ level: 'silent' }) }
}
