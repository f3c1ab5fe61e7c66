import { stripVTControlCharacters } from 'node:util'

/** What a model and a person get to read of an output. Characters. */
const MAX_SHOWN = 8_000

/**
 * The end of an output, where the failures stand, without colours, with paths as the workspace has
 * them instead of the copy's.
 */
export function shownOutput(output: string, root: string): string {
  const text = relativePaths(stripVTControlCharacters(output).replace(/\r\n?/g, '\n'), root).trim()
  if (text.length <= MAX_SHOWN) return text
  const end = text.slice(-MAX_SHOWN)
  return `[the beginning was cut off]\n${end.slice(end.indexOf('\n') + 1)}`
}

/** Absolute paths below `root`, also as file URLs, relative to it. */
export function relativePaths(text: string, root: string): string {
  return text.replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '').replaceAll(root, '.')
}
