import type { Scrubber } from '../../../shared/scrub/scrubber.ts'

/** What a payload shows of itself; the whole stands in the run, or in the memory. */
const MAX_TEXT = 1_000
const MAX_ITEMS = 20
/** Scrubbed before the cut, so that half a secret is not taken for an ordinary word. */
const MARGIN = 4_000
/** Shorter texts hold no secret: names of states and jobs, mostly. */
const MIN_SECRET = 8
/** Between texts that are scrubbed together, because each call costs some milliseconds. */
const BETWEEN = '\n\n\u0000\n\n'

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
  const texts = [...new Set(textsIn(value))]
  const clean = await scrubAll(texts, scrub)
  const byText = new Map(texts.map((text, i) => [text, cut(clean[i] ?? '')]))
  const replaced = (each: unknown): unknown => {
    if (typeof each === 'string') return byText.get(each) ?? each
    if (Array.isArray(each)) return each.map(replaced)
    return each === null || typeof each !== 'object' ? each : mapped(each, replaced)
  }
  return replaced(value)
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length < MIN_SECRET ? [] : [value]
  if (value === null || typeof value !== 'object') return []
  return Object.values(value).flatMap(textsIn)
}

async function scrubAll(texts: string[], scrub: Scrubber): Promise<string[]> {
  const first = texts.map((text) => text.slice(0, MAX_TEXT + MARGIN).replaceAll('\u0000', '\ufffd'))
  const together = (await scrub(first.join(BETWEEN))).text.split(BETWEEN)
  if (together.length === texts.length) return together
  // What was taken for one secret reached over the end of a text.
  return Promise.all(first.map(async (text) => (await scrub(text)).text))
}

const cut = (text: string) =>
  text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()} … (cut)` : text

const mapped = (value: object, change: (each: unknown) => unknown) =>
  Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each)]))
