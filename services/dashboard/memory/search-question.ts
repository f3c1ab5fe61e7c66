import type { Context } from 'hono'
import { z } from 'zod'

/** So much fits into a job; a form of ours carries it as a POST, because an address does not. */
const MAX_TEXT = 20_000

const questionSchema = z.object({
  // Forms send two characters for the end of a line, and count them as one.
  q: z
    .string()
    .transform((text) => text.replaceAll('\r\n', '\n'))
    .pipe(z.string().max(MAX_TEXT))
    .default(''),
  error_type: z.string().trim().max(200).default(''),
  repository: z.string().trim().max(200).default(''),
  top_k: z.coerce.number().int().min(1).max(10).default(3),
})
export type SearchFields = z.infer<typeof questionSchema>

/** What is asked, of the address or of the form, or what is wrong with it. */
export async function readQuestion(
  c: Context,
): Promise<{ fields: SearchFields } | { problem: string }> {
  const given = c.req.method === 'POST' ? await c.req.parseBody() : c.req.query()
  const parsed = questionSchema.safeParse(given)
  if (parsed.success) return { fields: parsed.data }
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return { problem: problems.join('; ') }
}
