import { PathRefused } from './confined.ts'
import type { Tree } from './tree.ts'

const MAX_LISTED = 2_000
const MAX_LINE = 300

export function listTree({ paths }: Tree): { files: string[]; truncated: boolean } {
  return { files: paths.slice(0, MAX_LISTED), truncated: paths.length > MAX_LISTED }
}

export type LineMatch = { path: string; line: number; text: string }

/** Lines that contain `query`, literally. Files that are not text are passed over. */
export async function searchTree(
  tree: Tree,
  query: string,
  maxResults: number,
): Promise<{ matches: LineMatch[]; truncated: boolean }> {
  const matches: LineMatch[] = []
  for (const path of tree.paths) {
    for (const [index, line] of (await linesOf(tree, path)).entries()) {
      if (!line.includes(query)) continue
      if (matches.length === maxResults) return { matches, truncated: true }
      matches.push({ path, line: index + 1, text: line.slice(0, MAX_LINE) })
    }
  }
  return { matches, truncated: false }
}

async function linesOf(tree: Tree, path: string): Promise<string[]> {
  try {
    return (await tree.read(path)).split(/\r?\n/)
  } catch (error) {
    if (error instanceof PathRefused) return []
    throw error
  }
}
