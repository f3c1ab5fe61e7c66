import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const fixSchema = z.object({
  id: z.string(),
  error_type: z.string(),
  symptom: z.string(),
  fix_description: z.string(),
  file_paths: z.array(z.string()).min(1),
})
export type Fix = z.infer<typeof fixSchema>

const querySchema = z.object({
  id: z.string(),
  kind: z.enum(['recurrence', 'transfer', 'cross-language', 'no-match']),
  query: z.string(),
  error_type: z.string().nullable(),
  relevant: z.array(z.string()),
  graded: z.record(z.string(), z.number()),
  near_miss_of: z.array(z.string()).optional(),
})

/** A query without a match is unrelated to every fix, or a near miss of some. */
export type Kind = 'recurrence' | 'transfer' | 'cross-language' | 'unrelated' | 'near_miss'
export type Query = Omit<z.infer<typeof querySchema>, 'kind'> & { kind: Kind }

export type Corpus = { fixes: Fix[]; queries: Query[] }

export const matchedKinds = ['recurrence', 'transfer', 'cross-language'] as const
export const unmatchedKinds = ['unrelated', 'near_miss'] as const

/** The corpus in `folder`. Throws with the file's name when one is missing or does not fit. */
export async function loadCorpus(folder: string): Promise<Corpus> {
  const fixes = await readLines(fixSchema, join(folder, 'fixes.jsonl'))
  const queries = await readLines(querySchema, join(folder, 'queries.jsonl'))
  return { fixes, queries: queries.map((query) => ({ ...query, kind: kindOf(query) })) }
}

function kindOf({ kind, near_miss_of = [] }: z.infer<typeof querySchema>): Kind {
  if (kind !== 'no-match') return kind
  return near_miss_of.length > 0 ? 'near_miss' : 'unrelated'
}

async function readLines<T>(schema: z.ZodType<T>, path: string): Promise<T[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line.trim() !== '')
  return lines.map((line, index) => {
    const parsed = schema.safeParse(JSON.parse(line))
    if (parsed.success) return parsed.data
    throw new Error(`${path}:${index + 1} does not fit: ${z.prettifyError(parsed.error)}`)
  })
}

/** The fixes with the error type of a right one, the right ones and those that help in part. */
export function familyOf({ relevant, graded }: Query, fixes: readonly Fix[]): Set<string> {
  const types = new Set(fixes.filter(({ id }) => relevant.includes(id)).map((f) => f.error_type))
  const siblings = fixes.filter(({ error_type }) => types.has(error_type)).map(({ id }) => id)
  return new Set([...relevant, ...Object.keys(graded), ...siblings])
}
