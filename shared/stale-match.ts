import type { Touched } from './contracts/record.ts'

/** The files of whoever asks. */
export type PresentFiles = {
  /** Those that a path of a record stands for; none when it is gone. */
  find(path: string): readonly string[]
  /** Null for what cannot be read, or is no text. */
  text(path: string): Promise<string | null>
}

/** Names of a missing place that are told; the rest says no more. */
const MAX_NAMED = 5

/** Why a fix may not fit these files any more: the place that it changed is gone. Null: nothing says so. */
export async function staleReason(
  files: PresentFiles,
  touched: Touched | null,
): Promise<string | null> {
  if (touched === null || touched.files.length === 0) return null
  const left = touched.files.filter((path) => files.find(path).length > 0)
  if (left.length === 0) return `${listed(touched.files)} not in this project any more`
  if (touched.identifiers.length === 0) return null
  const found = left.flatMap((path) => files.find(path))
  const texts = await Promise.all(found.map((path) => files.text(path)))
  // What cannot be read (too large, not text) may hold anything.
  const isThere = texts.some((text) => text === null || hasAny(text, touched.identifiers))
  if (isThere) return null
  const names = touched.identifiers.slice(0, MAX_NAMED).join(', ')
  return `nothing that it changed is in ${left.join(', ')} any more (${names})`
}

function listed(paths: readonly string[]): string {
  return `${paths.join(', ')} ${paths.length === 1 ? 'is' : 'are'}`
}

function hasAny(text: string, names: readonly string[]): boolean {
  const words = new Set(text.match(/[\p{L}\p{N}_$]+/gu) ?? [])
  return names.some((name) => words.has(name))
}
