import semver from 'semver'
import { z } from 'zod'
import { MemoryDatabaseError } from '../database-error.ts'
import { type Qdrant, statusOf } from './qdrant-client.ts'

/** The first with inserts that overwrite nothing, which receipts are claimed by. */
const OLDEST = '1.17.0'

/** What searches are limited to and lists are ordered by. */
const INDEXES = {
  kind: 'keyword',
  session_id: 'keyword',
  error_key: 'keyword',
  repository_id: 'keyword',
  group: 'keyword',
  revision: 'keyword',
  revoked_at: 'keyword',
  superseded_by: 'keyword',
  confirmed_ms: 'integer',
} as const

const dense = z.object({ size: z.number(), distance: z.string() })
const paramsSchema = z.object({
  vectors: z.record(z.string(), z.unknown()).catch({}),
  sparse_vectors: z.record(z.string(), z.unknown()).nullish().catch({}),
})

/**
 * Makes the collection where there is none. Throws MemoryDatabaseError for one of another shape,
 * which is left as it is. Other collections are none of our business: servers are shared.
 */
export async function ensureCollection(qdrant: Qdrant, dimensions: number): Promise<void> {
  const { collection, ask } = qdrant
  const { version } = await ask((client) => client.versionInfo())
  if (!semver.valid(version) || semver.lt(version, OLDEST)) {
    throw new MemoryDatabaseError(
      `this Qdrant has version ${version}, and the memory needs ${OLDEST} or newer: update it`,
    )
  }
  const { exists } = await ask((client) => client.collectionExists(collection))
  if (!exists) await create(qdrant, dimensions)
  const { config, payload_schema } = await ask((client) => client.getCollection(collection))
  const wrong = shapeProblem(config.params, dimensions)
  if (wrong !== null) {
    throw new MemoryDatabaseError(`collection ${collection} ${wrong}; it was not altered`, {
      hint: 'use another ASTRA_COLLECTION, or the embedding model that it was filled with',
    })
  }
  for (const [field_name, field_schema] of Object.entries(INDEXES)) {
    if (field_name in payload_schema) continue
    await ask((client) =>
      client.createPayloadIndex(collection, { field_name, field_schema, wait: true }),
    )
  }
}

async function create({ collection, ask }: Qdrant, size: number): Promise<void> {
  const vector = { size, distance: 'Cosine' } as const
  await ask((client) =>
    client
      .createCollection(collection, {
        vectors: { symptom: vector, fix: vector },
        sparse_vectors: { words: { modifier: 'idf' } },
      })
      .catch((error) => {
        // Another process was quicker; what it made is looked at next.
        if (statusOf(error) !== 409) throw error
      }),
  )
}

/** What does not fit, to be read behind the collection's name; null when all fits. */
function shapeProblem(params: unknown, size: number): string | null {
  const { vectors, sparse_vectors } = paramsSchema.parse(params)
  for (const name of ['symptom', 'fix']) {
    const found = dense.safeParse(vectors[name])
    if (!found.success) return `has no vector named ${name}: another program made it`
    if (found.data.size !== size) {
      return `holds vectors of ${found.data.size} dimensions and the embedding model makes ${size}`
    }
    if (found.data.distance !== 'Cosine') {
      return `compares by ${found.data.distance}, and the memory needs Cosine`
    }
  }
  const words = z.object({ modifier: z.literal('idf') }).safeParse(sparse_vectors?.words)
  return words.success ? null : 'has no sparse vector named words with the modifier idf'
}
