import { type SearchResult, searchResultSchema } from '../../../shared/contracts/memory.ts'
import type { RunFiles } from '../../../shared/run-files.ts'
import { findSnapshot } from '../../../shared/run-snapshot.ts'
import { type PresentFiles, staleReason } from '../../../shared/stale-match.ts'
import { PathRefused } from './confined.ts'
import { readText } from './text-file.ts'

/**
 * The result of a search with a mark on each match of the run's own repository whose place in the
 * code is gone. It is compared with the run's base, which never changes, so that a repetition says
 * the same. Anything else is given back as it is.
 */
export async function markStale(files: RunFiles, value: unknown): Promise<unknown> {
  const parsed = searchResultSchema.safeParse(value)
  if (!parsed.success || parsed.data.matches.every(({ touched }) => touched === null)) return value
  const present = await filesOfBase(files)
  const matches = parsed.data.matches.map(async (match) => {
    return { ...match, stale: await staleReason(present, match.touched) }
  })
  return { ...parsed.data, matches: await Promise.all(matches) } satisfies SearchResult
}

async function filesOfBase(files: RunFiles): Promise<PresentFiles> {
  const { base, manifest } = await findSnapshot(files)
  const present = new Set(manifest.files.map(({ path }) => path))
  return {
    find: (path) => (present.has(path) ? [path] : []),
    async text(path) {
      try {
        return await readText(base, path)
      } catch (error) {
        if (error instanceof PathRefused) return null
        throw error
      }
    },
  }
}
