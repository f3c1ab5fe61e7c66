import { randomBytes } from 'node:crypto'

/** A word that nobody can know before the run: hexadecimal, and a name in every language. */
export function canaryWord(): string {
  return `c${randomBytes(6).toString('hex')}`
}

/**
 * The name of a canary beside a test file: its own word, in the pattern of the file's name, so that
 * the runner collects it as it collects the file.
 */
export function canaryName(testFile: string, word: string): string {
  const dot = testFile.lastIndexOf('.')
  const stem = dot > 0 ? testFile.slice(0, dot) : testFile
  const extension = testFile.slice(stem.length)
  return `${canaryStem(stem, word)}${extension}`
}

function canaryStem(stem: string, word: string): string {
  // cart.test, cart.unit.spec: all after the first dot may belong to the pattern.
  const dotted = stem.indexOf('.')
  if (dotted > 0) return `${word}${stem.slice(dotted)}`
  const start = /^(tests?[_-])./i.exec(stem)
  if (start) return `${start[1]}${word}`
  const end = /.([_-](?:tests?|specs?))$/i.exec(stem)
  if (end) return `${word}${end[1]}`
  if (/^test$/i.test(stem)) return `${stem}-${word}`
  if (/^test/i.test(stem)) return `${stem}${word}`
  // check_cart may follow check_* or *_cart.
  const separator = stem.search(/[_-]/)
  if (separator < 0) return `${word}${stem}`
  const at = separator + 1
  return `${stem.slice(0, at)}${word}${stem.slice(separator)}`
}
