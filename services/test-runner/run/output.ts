import { basename } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { dependencyRoot } from '../sandbox/folders.ts'

/** What a model and a person get to read of an output. Characters. */
const MAX_SHOWN = 8_000

/**
 * The end of an output, where the failures stand, without colours, with paths as the workspace has
 * them instead of the copy's, and without what runners say of our report file.
 */
export function shownOutput(output: string, root: string, reportFile: string): string {
  const lines = stripVTControlCharacters(output).split(/\r\n|\n|\r/)
  const report = basename(reportFile)
  const own = lines.filter((line) => !line.includes(report)).join('\n')
  const text = relativePaths(own, root).trim()
  if (text.length <= MAX_SHOWN) return text
  const end = text.slice(-MAX_SHOWN)
  return `[the beginning was cut off]\n${end.slice(end.indexOf('\n') + 1)}`
}

/** Packages of `node_modules` as a sandbox shows them, absolute or relative, also as file URLs. */
const DEPENDENCIES = new RegExp(`(?:file://)?(?:\\.\\./)*/?${dependencyRoot.slice(1)}/\\d+/`, 'g')

/** Absolute paths below `root`, also as file URLs, relative to it; packages where people have them. */
export function relativePaths(text: string, root: string): string {
  return text
    .replaceAll(DEPENDENCIES, '')
    .replaceAll(`file://${root}/`, '')
    .replaceAll(`${root}/`, '')
    .replaceAll(root, '.')
}
