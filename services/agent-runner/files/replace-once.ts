import { nearestLines, showLines } from './nearest-lines.ts'

/** What came of looking for one occurrence. `message` is for the model. */
export type Replacement = { ok: true; text: string } | { ok: false; message: string }

const BOM = '\uFEFF'
/** How many places of a text that is not unique are named, and how many are counted. */
const MAX_PLACES = 10
const MAX_COUNTED = 1000

/**
 * Replaces the one occurrence of `oldText`. What an edit is not about stays: the file's byte order
 * mark, its final newline or the lack of one, and its line endings: where it has CRLF throughout, LF
 * in both texts stands for them.
 */
export function replaceOnce(text: string, oldText: string, newText: string): Replacement {
  const bom = text.startsWith(BOM) ? BOM : ''
  const body = text.slice(bom.length)
  const crlf = body.includes('\r\n') && !/(^|[^\r])\n/.test(body)
  const convert = (part: string) => {
    const bare = part.startsWith(BOM) ? part.slice(1) : part
    return crlf ? bare.replace(/\r?\n/g, '\r\n') : bare
  }
  const wanted = convert(oldText)
  const places = wanted === '' ? [] : occurrences(body, wanted)
  const [first] = places
  if (first === undefined) return { ok: false, message: missed(body, wanted, crlf) }
  if (places.length > 1) return { ok: false, message: ambiguous(body, places) }
  const replaced = body.slice(0, first) + convert(newText) + body.slice(first + wanted.length)
  return { ok: true, text: bom + withEndOf(body, replaced) }
}

/** Where `wanted` begins, overlaps included, up to a limit. */
function occurrences(body: string, wanted: string): number[] {
  const places: number[] = []
  let at = body.indexOf(wanted)
  while (at >= 0 && places.length < MAX_COUNTED) {
    places.push(at)
    at = body.indexOf(wanted, at + 1)
  }
  return places
}

/** `replaced` with a final newline where `body` had one, and without where it had none. */
function withEndOf(body: string, replaced: string): string {
  if (body === '' || replaced === '') return replaced
  const newline = /\r?\n$/.exec(body)?.[0]
  if (newline === undefined) return withoutFinalNewlines(replaced)
  return replaced.endsWith('\n') ? replaced : replaced + newline
}

function withoutFinalNewlines(text: string): string {
  let end = text.length
  while (text[end - 1] === '\n') end -= text[end - 2] === '\r' ? 2 : 1
  return text.slice(0, end)
}

function missed(body: string, wanted: string, crlf: boolean): string {
  const endings =
    !crlf && body.includes('\r\n') && wanted.includes('\n')
      ? ' The file mixes CRLF and LF: its line endings have to be met exactly.'
      : ''
  return `old_text occurs 0 times in the file.${endings}${nearestLines(body, wanted)}`
}

function ambiguous(body: string, places: number[]): string {
  const numbers = places.slice(0, MAX_PLACES).map((at) => body.slice(0, at).split('\n').length)
  const lines = [...new Set(numbers)]
  const more = places.length > MAX_PLACES ? ', ...' : ''
  const count = places.length < MAX_COUNTED ? places.length : `at least ${MAX_COUNTED}`
  return (
    `old_text occurs ${count} times, at line ${lines.join(', ')}${more}; ` +
    `add lines around it until it is unique.${showLines(body, lines)}`
  )
}
