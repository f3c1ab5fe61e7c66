import type { Finding } from './finding.ts'

const BEGIN = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const END = /-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
/** The longest key: RSA of 16,384 bits has some 13,000 characters; PGP blocks are longer. */
const MAX_BLOCK = 40_000
/** A line of base64, as it stands in a file, a diff, a quotation, a list or a string of code. */
const KEY_LINE = /^[\s+\-|>*"'`\d:,]{0,20}[A-Za-z0-9+/=]{16,100}(?:\\[nr]|[\s"'`,;+\\)]){0,12}$/
/** The last of a key and its checksum. */
const SHORT_LINE = /^[\s+\-|>*"'`]{0,20}[A-Za-z0-9+/=]{1,100}(?:\\[nr]|[\s"'`,;+\\)]){0,12}$/
/** PEM's and PGP's own headers, and the empty line below them. */
const HEADER_LINE =
  /^[\s+\-|>*"'`]{0,20}(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash): .{0,200})?(?:\\[nr]|[\s"'`,;+\\)]){0,12}$/
const KEY_BYTES = /[A-Za-z0-9+/=]{16}/

/**
 * Blocks of private keys, whole or cut off at either end. What only names such a block, as code that
 * reads keys does, stays: without a line of the key it is no secret.
 */
export function findPrivateKeys(text: string): Finding[] {
  const ends = [...text.matchAll(END)].map(({ 0: line, index }) => ({
    start: index,
    end: index + line.length,
  }))
  const blocks = findBlocks(text, ends)
  const tails = ends
    .filter((end) => !blocks.some((block) => block.start < end.start && end.start < block.end))
    .map((end) => ({ start: keyLinesBefore(text, end.start), end: end.end, rule: 'private-key' }))
  return [...blocks, ...tails.filter((tail) => KEY_BYTES.test(text.slice(tail.start, tail.end)))]
}

function findBlocks(text: string, ends: readonly { start: number; end: number }[]): Finding[] {
  const begins = [...text.matchAll(BEGIN)]
  return begins.flatMap((begin, index) => {
    const body = begin.index + begin[0].length
    const limit = Math.min(begins[index + 1]?.index ?? text.length, body + MAX_BLOCK)
    const close = ends.find((end) => end.start >= body && end.start < limit)
    const bodyEnd = close ? close.start : keyLinesAfter(text, body, limit)
    if (!KEY_BYTES.test(text.slice(body, bodyEnd))) return []
    return [{ start: begin.index, end: close ? close.end : bodyEnd, rule: 'private-key' }]
  })
}

/** Where the lines of a key end whose end is missing; all of them may stand in one line of code. */
function keyLinesAfter(text: string, from: number, limit: number): number {
  const oneLine = /^(?:\\[nr]|[A-Za-z0-9+/=]){40,}/.exec(text.slice(from, limit))
  if (oneLine) return from + oneLine[0].length
  let at = from
  while (at < limit) {
    const lineEnd = text.indexOf('\n', at)
    const end = lineEnd === -1 ? limit : Math.min(lineEnd, limit)
    const line = text.slice(at, end)
    if (!KEY_LINE.test(line) && !HEADER_LINE.test(line)) break
    at = Math.min(end + 1, limit)
  }
  return at
}

function keyLinesBefore(text: string, to: number): number {
  let start = to
  let at = text.lastIndexOf('\n', to - 1)
  for (let lines = 1; at > 0; lines += 1) {
    const lineStart = text.lastIndexOf('\n', at - 1) + 1
    const line = text.slice(lineStart, at)
    if (KEY_LINE.test(line)) start = lineStart
    else if (lines > 2 || !SHORT_LINE.test(line)) break
    at = lineStart - 1
  }
  return start
}
