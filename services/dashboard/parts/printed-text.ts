import { stripVTControlCharacters } from 'node:util'

export type PrintedText = {
  text: string
  /** How many characters are left out at its end. */
  left: number
}

/**
 * What a model, a test or a person printed, as it can be shown: without what steers a terminal or
 * reorders a line, and no longer than `max`. It still has to be escaped.
 */
export function printedText(given: string, max: number): PrintedText {
  // Cut first: escape codes of a megabyte are not worth looking for.
  const kept = given.slice(0, max)
  const text = stripVTControlCharacters(kept.toWellFormed()).replace(STEERING, '')
  return { text, left: given.length - kept.length }
}

/** The same on one line, with an ellipsis where it was cut. */
export function printedLine(given: string, max: number): string {
  const { text, left } = printedText(given, max)
  return `${text.replace(/\s+/g, ' ').trim()}${left > 0 ? '…' : ''}`
}

/** The end of a name on one line: names of runs begin with their day, and differ in their end. */
export function printedEnd(given: string, max: number): string {
  const end = printedLine(given.slice(-max), max)
  return given.length > max ? `…${end}` : end
}

/** Control characters but tab and line feed, and marks that turn the direction of writing. */
const STEERING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
