import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isSecretName, PathRefused } from './confined.ts'
import { readText } from './text-file.ts'

const MAX_LISTED = 2_000
const MAX_LINE = 300

/** Relative paths of the regular files below `root`, in order; links and secrets are not shown. */
export async function listFiles(root: string): Promise<{ files: string[]; truncated: boolean }> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && !isSecretName(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()
  return { files: files.slice(0, MAX_LISTED), truncated: files.length > MAX_LISTED }
}

export type LineMatch = { path: string; line: number; text: string }

/** Lines that contain `query`, literally. Files that are not text are passed over. */
export async function searchFiles(
  root: string,
  query: string,
  maxResults: number,
): Promise<{ matches: LineMatch[]; truncated: boolean }> {
  const { files } = await listFiles(root)
  const matches: LineMatch[] = []
  for (const path of files) {
    for (const [index, line] of (await linesOf(root, path)).entries()) {
      if (!line.includes(query)) continue
      if (matches.length === maxResults) return { matches, truncated: true }
      matches.push({ path, line: index + 1, text: line.slice(0, MAX_LINE) })
    }
  }
  return { matches, truncated: false }
}

async function linesOf(root: string, path: string): Promise<string[]> {
  try {
    return (await readText(root, path)).split(/\r?\n/)
  } catch (error) {
    if (error instanceof PathRefused) return []
    throw error
  }
}
