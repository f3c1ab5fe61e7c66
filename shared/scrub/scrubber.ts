import { findAssignedSecrets } from './assigned-secrets.ts'
import { type Finding, markerOf, partsOf, united } from './finding.ts'
import { findHeaderCredentials } from './header-credentials.ts'
import { joinedText } from './joined-text.ts'
import { findKnownSecrets, formsOf } from './known-secrets.ts'
import { looksRandom } from './looks-random.ts'
import { findPrivateKeys } from './private-keys.ts'
import { findBySecretlint } from './secretlint.ts'
import { findTokens } from './token-rules.ts'
import { findUrlCredentials } from './url-credentials.ts'

/** How many secrets each rule took out. */
export type Removed = { rule: string; count: number }[]
export type Scrubbed = { text: string; removed: Removed }
export type Scrubber = (text: string) => Promise<Scrubbed>

/** These take a whole address, of which only the password is a secret. */
const WHOLE_ADDRESS = new Set(['basicauth', 'database-connection-string'])

/**
 * Takes secrets out of texts for the memory: `[removed: RULE]` stands for each. What is known to be
 * secret is found as it is; the rest by its form or by the name that it is assigned to. The same text
 * gives the same result, and a result is not changed again.
 */
export function createScrubber(secrets: readonly string[]): Scrubber {
  const forms = secrets.flatMap(formsOf)
  return async (text) => {
    const counts = new Map<string, number>()
    let result = text
    for (let pass = 1; ; pass += 1) {
      const found = await findAll(result, forms, pass)
      if (found.length === 0) break
      for (const { rule } of found) counts.set(rule, (counts.get(rule) ?? 0) + 1)
      // What is left may be a secret to another rule, now that its neighbour is gone.
      result = replaced(result, found)
    }
    return { text: result, removed: sorted(counts) }
  }
}

/** The sum of what was removed from several texts, by rule. */
export function sumRemoved(...all: readonly Removed[]): Removed {
  const counts = new Map<string, number>()
  for (const { rule, count } of all.flat()) counts.set(rule, (counts.get(rule) ?? 0) + count)
  return sorted(counts)
}

function sorted(counts: Map<string, number>): Removed {
  const rules = [...counts.keys()].sort()
  return rules.map((rule) => ({ rule, count: counts.get(rule) ?? 0 }))
}

async function findAll(text: string, forms: readonly string[], pass: number): Promise<Finding[]> {
  const found: Finding[] = []
  for (const part of partsOf(text)) {
    for (const finding of united(await findIn(part.text, forms))) {
      const { start, end, rule } = widened(part.text, finding, pass)
      const at = { start: start + part.start, end: end + part.start, rule }
      const last = found.at(-1)
      if (last && at.start < last.end) last.end = Math.max(last.end, at.end)
      else found.push(at)
    }
  }
  return found
}

/** After this many passes a text is made so that each pass uncovers something. */
const MAX_PASSES = 3

/** Later passes take the whole word, and at last all between two markers: there is an end to them. */
function widened(text: string, finding: Finding, pass: number): Finding {
  if (pass === 1) return finding
  if (pass > MAX_PASSES) return { ...finding, start: 0, end: text.length }
  let { start, end } = finding
  while (start > 0 && OF_A_TOKEN.test(text.charAt(start - 1))) start -= 1
  while (end < text.length && OF_A_TOKEN.test(text.charAt(end))) end += 1
  return { ...finding, start, end }
}

const OF_A_TOKEN = /[\w+/=.~-]/

/** The most telling rules first: where several find the same, the first gives the name. */
async function findIn(text: string, forms: readonly string[]): Promise<Finding[]> {
  const own = [
    ...findKnownSecrets(text, forms),
    ...findPrivateKeys(text),
    ...findTokens(text),
    ...findHeaderCredentials(text),
    ...findUrlCredentials(text),
  ]
  own.push(...findBroken(text, forms, own))
  const overlaps = (one: Finding) =>
    own.some((other) => one.start < other.end && other.start < one.end)
  const linted = (await findBySecretlint(text)).filter(
    (finding) => !(WHOLE_ADDRESS.has(finding.rule) && overlaps(finding)),
  )
  return [...own, ...linted, ...findAssignedSecrets(text)]
}

/** Secrets that go over the end of a line. Ordinary text behind a whole token is no part of it. */
function findBroken(text: string, forms: readonly string[], whole: readonly Finding[]): Finding[] {
  const joined = joinedText(text)
  if (!joined) return []
  const place = ({ start, end, rule }: Finding) => ({
    start: joined.at(start),
    end: joined.at(end - 1) + 1,
    rule,
  })
  const tokens = findTokens(joined.text)
    .map(place)
    .filter(({ start, end }) => {
      const lines = text.slice(start, end).split(/[\s"'`]+/)
      const known = whole.find((each) => each.start === start)
      if (known?.end === end || lines.length === 1) return known === undefined
      return lines.slice(1).every((line) => line.length < 3 || looksRandom(line, 8))
    })
  return [...findKnownSecrets(joined.text, forms).map(place), ...tokens]
}

function replaced(text: string, found: readonly Finding[]): string {
  let result = ''
  let last = 0
  for (const { start, end, rule } of found) {
    result += text.slice(last, start) + markerOf(rule)
    last = end
  }
  return result + text.slice(last)
}
