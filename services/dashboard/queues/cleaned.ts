import type { Scrubber } from '../../../shared/scrub/scrubber.ts'

/** What a payload shows of itself; the whole stands in the run, or in the memory. */
const MAX_TEXT = 1_000
const MAX_ITEMS = 20
/** Scrubbed before the cut, so that half a secret is not taken for an ordinary word. */
const MARGIN = 4_000
/** Shorter texts hold no secret: names of states and jobs, mostly. */
const MIN_SECRET = 8

/** Shortens a payload or a result for a page: long texts and lists are cut, with a note. */
export function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, MAX_TEXT + MARGIN)
  if (Array.isArray(value)) {
    const first = value.slice(0, MAX_ITEMS).map(shortened)
    const rest = value.length - first.length
    return rest > 0 ? [...first, `… and ${rest} more`] : first
  }
  if (value === null || typeof value !== 'object') return value
  return mapped(value, shortened)
}

/** The value with secrets taken out of all its texts, which are cut then. */
export async function cleaned(value: unknown, scrub: Scrubber): Promise<unknown> {
  if (typeof value === 'string') return cleanText(value, scrub)
  if (Array.isArray(value)) return Promise.all(value.map((each) => cleaned(each, scrub)))
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).map(
    async ([name, each]) => [name, await cleaned(each, scrub)] as const,
  )
  return Object.fromEntries(await Promise.all(entries))
}

async function cleanText(text: string, scrub: Scrubber): Promise<string> {
  if (text.length < MIN_SECRET) return text
  const result = (await scrub(text.slice(0, MAX_TEXT + MARGIN))).text
  return result.length > MAX_TEXT ? `${result.slice(0, MAX_TEXT)} … (cut)` : result
}

const mapped = (value: object, change: (each: unknown) => unknown) =>
  Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each)]))
