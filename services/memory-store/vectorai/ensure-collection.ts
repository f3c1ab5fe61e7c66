import { z } from 'zod'
import { MemoryDatabaseError } from '../database-error.ts'
import type { Http } from './http.ts'

const listSchema = z.object({ collections: z.array(z.object({ name: z.string() })) })
const vectorsSchema = z.object({ size: z.coerce.number(), distance: z.string() })
/** Where `vectors` stands in the configuration is not documented. */
const infoSchema = z
  .object({
    config: z.union([
      z.object({ params: z.object({ vectors: vectorsSchema }) }).transform((c) => c.params.vectors),
      z.object({ vectors: vectorsSchema }).transform((c) => c.vectors),
      z.object({ params: vectorsSchema }).transform((c) => c.params),
      vectorsSchema,
    ]),
  })
  .transform(({ config }) => config)

/**
 * Makes the collection in a database that holds no other. Throws MemoryDatabaseError for a database
 * with unknown collections, and for a collection of another size or distance; nothing is altered.
 */
export async function ensureCollection(
  { request }: Http,
  name: string,
  dimensions: number,
): Promise<void> {
  const { collections } = listSchema.parse(await request('GET', '/collections'))
  const others = collections.filter((each) => each.name !== name).map((each) => each.name)
  if (others.length > 0) {
    throw new MemoryDatabaseError(
      `this VectorAI DB holds collections of another program (${others.slice(0, 5).join(', ')}); ` +
        'nothing was altered',
      { hint: `give the memory a database of its own, or name its collection in ASTRA_COLLECTION` },
    )
  }
  const path = `/collections/${encodeURIComponent(name)}`
  if (collections.length === 0) {
    await create({ request }, path, dimensions)
  }
  const info = infoSchema.safeParse(await request('GET', path))
  const wrong = info.success ? shapeProblem(info.data, dimensions) : 'does not tell its vectors'
  if (wrong === null) return
  throw new MemoryDatabaseError(`collection ${name} ${wrong}; it was not altered`, {
    hint: 'use another database, or the embedding model that it was filled with',
  })
}

async function create(
  { request }: Pick<Http, 'request'>,
  path: string,
  size: number,
): Promise<void> {
  try {
    await request('PUT', path, { vectors: { size, distance: 'Cosine' } })
  } catch (error) {
    // Made by a quicker process, or by a try of ours whose answer was lost.
    const { exists } = z
      .object({ exists: z.boolean() })
      .parse(await request('GET', `${path}/exists`))
    if (!exists) throw error
  }
}

function shapeProblem({ size, distance }: z.infer<typeof vectorsSchema>, wanted: number) {
  if (size !== wanted) {
    return `holds vectors of ${size} dimensions and the embedding model makes ${wanted}`
  }
  return distance.toLowerCase() === 'cosine'
    ? null
    : `compares by ${distance}, and the memory needs Cosine`
}
