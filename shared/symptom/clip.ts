/** What is looked at; an endless output would only cost time. Characters. */
const MAX_INPUT = 100_000
/** Patterns look at one line at a time, so this bounds what each can cost. */
const MAX_LINE = 1_000

/** A text's beginning and end, where messages stand, in at most `max` characters. */
export function headAndTail(text: string, max: number, gap = '\n...\n'): string {
  if (text.length <= max) return text
  const head = Math.floor(max * 0.65)
  const tail = max - head - gap.length
  // A cut must not leave one half of a character: no database and no model takes that.
  const start = text.slice(0, head).replace(/[\ud800-\udbff]$/, '')
  return start + gap + text.slice(text.length - tail).replace(/^[\udc00-\udfff]/, '')
}

/** The lines as a terminal would show them, well-formed, and few and short enough to look at. */
export function plainLines(text: string): string[] {
  return headAndTail(text, MAX_INPUT)
    .toWellFormed()
    .replace(TERMINAL, '')
    .replace(/\r\n?/g, '\n')
    .replace(CONTROLS, '')
    .split('\n')
    .map((line) => headAndTail(line.trimEnd(), MAX_LINE, ' ... '))
}

const ESC = String.fromCharCode(0x1b)
const BELL = String.fromCharCode(0x07)
/** Colours and titles. Node's stripVTControlCharacters takes 15 s for 100,000 characters of `ESC ]`. */
const TERMINAL = new RegExp(
  `${ESC}\\[[0-?]*[ -/]*[@-~]|${ESC}\\][^${BELL}${ESC}\\n]*(?:${BELL}|${ESC}\\\\)?|${ESC}[@-Z\\\\-_]`,
  'g',
)
const CONTROLS = /(?![\t\n])\p{Cc}/gu
