import { type SearchResult, searchResultSchema } from '../../../shared/contracts/memory.ts'
import type { MemoryMatch } from '../../../shared/contracts/record.ts'
import type { RunFiles } from '../../../shared/run-files.ts'
import { readManifest } from '../../../shared/workspace.ts'
import { PathRefused } from './confined.ts'
import { readText } from './text-file.ts'

/** Names of a missing place that are told; the rest says no more. */
const MAX_NAMED = 5

/**
 * The result of a search with a mark on each match of the run's own repository whose place in the
 * code is gone. It is compared with the run's base, which never changes, so that a repetition says
 * the same. Anything else is given back as it is.
 */
export async function markStale(files: RunFiles, value: unknown): Promise<unknown> {
  const parsed = searchResultSchema.safeParse(value)
  if (!parsed.success || parsed.data.matches.every(({ touched }) => touched === null)) return value
  const manifest = await readManifest(files)
  const present = new Set(manifest.files.map(({ path }) => path))
  const matches = parsed.data.matches.map(async (match) => {
    return { ...match, stale: await staleReason(files, present, match) }
  })
  return { ...parsed.data, matches: await Promise.all(matches) } satisfies SearchResult
}

async function staleReason(
  files: RunFiles,
  present: ReadonlySet<string>,
  { touched }: MemoryMatch,
): Promise<string | null> {
  if (touched === null || touched.files.length === 0) return null
  const left = touched.files.filter((path) => present.has(path))
  if (left.length === 0) return `${listed(touched.files)} not in this project any more`
  if (touched.identifiers.length === 0) return null
  const texts = await Promise.all(left.map((path) => textOf(files, path)))
  // What cannot be read (too large, not text) may hold anything.
  const isThere = texts.some((text) => text === null || hasAny(text, touched.identifiers))
  if (isThere) return null
  const names = touched.identifiers.slice(0, MAX_NAMED).join(', ')
  return `nothing that it changed is in ${left.join(', ')} any more (${names})`
}

function listed(paths: readonly string[]): string {
  return `${paths.join(', ')} ${paths.length === 1 ? 'is' : 'are'}`
}

async function textOf(files: RunFiles, path: string): Promise<string | null> {
  try {
    return await readText(files.base, path)
  } catch (error) {
    if (error instanceof PathRefused) return null
    throw error
  }
}

function hasAny(text: string, names: readonly string[]): boolean {
  const words = new Set(text.match(/[\p{L}\p{N}_$]+/gu) ?? [])
  return names.some((name) => words.has(name))
}
