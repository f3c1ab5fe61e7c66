import { z } from 'zod'
import { memoryStateSchema } from '../../../shared/contracts/memory.ts'

/** What an empty field of a form asks for is nothing. */
const field = z
  .string()
  .trim()
  .max(200)
  .transform((text) => (text === '' ? undefined : text))
  .optional()

/** `unproved` is no state of the store: the receipts of all records are looked at for it. */
export const shownStates = [...memoryStateSchema.options, 'unproved'] as const
const filterSchema = z.object({
  error_type: field,
  session: field,
  repository: field,
  state: field.pipe(z.enum(shownStates).optional()),
  page: z.coerce.number().int().min(1).max(100_000).default(1),
  after: field,
})
export type MemoryFilter = z.infer<typeof filterSchema>

/** The filter of an address, or what is wrong with it. */
export function readFilter(
  query: Record<string, string>,
): { filter: MemoryFilter } | { problem: string } {
  const parsed = filterSchema.safeParse(query)
  if (parsed.success) return { filter: parsed.data }
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return { problem: problems.join('; ') }
}

/** The address of the list with this filter; what is undefined is left out. */
export function listPath(
  filter: {
    [Name in keyof MemoryFilter]?: MemoryFilter[Name] | undefined
  },
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined) query.set(name, String(value))
  }
  return query.size === 0 ? '/memories' : `/memories?${query}`
}
