/** A place in a text that holds a secret: from `start` up to `end`, and the rule that says so. */
export type Finding = { start: number; end: number; rule: string }

/** What stands for a secret that was removed; no rule looks into it again. */
const MARKER = /\[removed: [a-z0-9-]{1,60}\]/g

export const markerOf = (rule: string) => `[removed: ${rule}]`

/** The parts of a text between its markers, with where each begins. */
export function partsOf(text: string): { start: number; text: string }[] {
  const parts: { start: number; text: string }[] = []
  let start = 0
  for (const match of text.matchAll(MARKER)) {
    parts.push({ start, text: text.slice(start, match.index) })
    start = match.index + match[0].length
  }
  parts.push({ start, text: text.slice(start) })
  // No secret is shorter than that with what it is known by.
  return parts.filter((part) => part.text.length >= 8)
}

/** Where the group `value` of a pattern (flags `dg`) matches and is accepted. */
export function valuesOf(
  text: string,
  pattern: RegExp,
  rule: string,
  accept: (value: string, match: RegExpExecArray) => boolean,
): Finding[] {
  return [...text.matchAll(pattern)].flatMap((match) => {
    const range = match.indices?.groups?.value
    if (!range) return []
    const [start, end] = range
    return accept(text.slice(start, end), match) ? [{ start, end, rule }] : []
  })
}

/**
 * Findings in order and without overlap: those that overlap become one. It is named by the one that
 * stands first in `found`, so the most telling rules come first there.
 */
export function united(found: readonly Finding[]): Finding[] {
  const ranked = found.map((finding, rank) => ({ ...finding, rank }))
  ranked.sort((a, b) => a.start - b.start || a.rank - b.rank)
  const result: (Finding & { rank: number })[] = []
  for (const finding of ranked) {
    const last = result.at(-1)
    if (!last || finding.start >= last.end) {
      result.push(finding)
      continue
    }
    last.end = Math.max(last.end, finding.end)
    if (finding.rank < last.rank) Object.assign(last, { rule: finding.rule, rank: finding.rank })
  }
  return result.map(({ start, end, rule }) => ({ start, end, rule }))
}
