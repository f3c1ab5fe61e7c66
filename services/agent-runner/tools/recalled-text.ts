import type { MemoryMatch } from '../../../shared/contracts/record.ts'
import { allCalls, outcomeOf, PREFETCH } from '../journal/conversation.ts'
import { callKey, type Journal } from '../journal/journal.ts'

/** Shorter ones are names and words that any text may share. */
const MIN_PASSAGE = 40
/** A long text is shown in part, so its beginning is what a copy is known by. */
const MAX_NEEDLE = 400

type Recalled = Pick<MemoryMatch, 'memory_id' | 'fix_description' | 'error_type' | 'proved'>

/** The records that searches of this run have answered with. */
export function recalledIn(journal: Journal): Recalled[] {
  const searches = allCalls(journal).filter((call) => call.name === 'search_codebase_memory')
  const keys = [PREFETCH, ...searches.map((call) => callKey(call.call_id))]
  const matches = keys.flatMap((key) => {
    const outcome = outcomeOf(journal, key, 'search')
    return outcome?.ok ? outcome.value.matches : []
  })
  return [...new Map(matches.map((match) => [match.memory_id, match])).values()]
}

/**
 * A text with a reference in place of each passage that repeats a recalled record word for word:
 * stored again, a planted text would be told as if this run had found it out.
 */
export function withoutRecalled(text: string, recalled: readonly Recalled[]): string {
  let result = text
  for (const { memory_id, fix_description, error_type } of recalled) {
    for (const passage of [fix_description, error_type].map(plain)) {
      if (passage.length < MIN_PASSAGE) continue
      result = withoutPassage(result, passage, `[recalled: memory ${memory_id}]`)
    }
  }
  return result
}

export type OwnDescription = { ok: true; text: string } | { ok: false; message: string }

/**
 * A description of a fix in the words of who made it. One that is a recalled text and nothing else is
 * refused, unless that record is proved: the same fix may be told in the same words again.
 */
export function ownDescription(text: string, recalled: readonly Recalled[]): OwnDescription {
  const without = withoutRecalled(text, recalled)
  const rest = without.replace(/\[recalled: memory [^\]]*\]/g, '').trim()
  if (without === text || rest.length >= MIN_PASSAGE) return { ok: true, text: without }
  const unproved = recalled.filter((match) => !match.proved)
  if (withoutRecalled(text, unproved) === text) return { ok: true, text }
  const message =
    'fix_description repeats a recalled record that nothing proves. Say in your own words what you ' +
    'changed and why it works, then store again.'
  return { ok: false, message }
}

/** Recalled text reaches the model with its white space made single. */
const plain = (text: string) => text.replace(/\s+/g, ' ').trim()

function withoutPassage(text: string, passage: string, reference: string): string {
  const { characters, places } = withPlaces(text)
  const needle = passage.slice(0, MAX_NEEDLE)
  let result = ''
  let last = 0
  let at = characters.indexOf(needle)
  while (at !== -1) {
    let length = needle.length
    while (length < passage.length && characters[at + length] === passage[length]) length += 1
    while (characters[at + length - 1] === ' ') length -= 1
    result += text.slice(last, places[at]) + reference
    last = (places[at + length - 1] ?? text.length - 1) + 1
    at = characters.indexOf(needle, at + length)
  }
  return result + text.slice(last)
}

/** The text with single spaces, and where each of its characters stood. */
function withPlaces(text: string): { characters: string; places: number[] } {
  let characters = ''
  const places: number[] = []
  for (let index = 0; index < text.length; index += 1) {
    const isSpace = /\s/.test(text.charAt(index))
    if (isSpace && characters.endsWith(' ')) continue
    characters += isSpace ? ' ' : text.charAt(index)
    places.push(index)
  }
  return { characters, places }
}
