import { dirname, join, relative } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import type { GitFolder } from './git-folder.ts'
import { readPersonalExcludes } from './personal-excludes.ts'
import { readSettingsFile } from './settings-file.ts'

/**
 * What git ignores, as one list of patterns relative to `root`: those of nested `.gitignore` files
 * are rewritten to it, so that the last match decides and an ignored folder stays closed.
 */
export type IgnoreRules = { root: string; matcher: Ignore }

const newMatcher = () => ignore({ ignorecase: false })

/** The rules that hold for `workspace` before its own `.gitignore` is read. Real paths only. */
export async function rulesAbove(workspace: string, git: GitFolder | null): Promise<IgnoreRules> {
  const none = { root: workspace, matcher: newMatcher() }
  if (!git) return none
  let rules: IgnoreRules = { root: git.root, matcher: newMatcher() }
  // From the weakest to the strongest: the last match decides.
  rules.matcher.add(linesIn(await readPersonalExcludes()))
  rules.matcher.add(await linesOf(join(git.commonDir, 'info'), 'exclude'))
  for (const folder of foldersBetween(git.root, workspace)) {
    rules = await withIgnoreFile(rules, folder)
  }
  // A scratch copy inside a folder that an outer repository ignores is a workspace of its own.
  const outerIgnoresIt = workspace !== git.root && isIgnored(rules, workspace, true)
  return outerIgnoresIt ? none : rules
}

/** The rules inside `folder`: with those of its `.gitignore`, when it has one. */
export async function withIgnoreFile(rules: IgnoreRules, folder: string): Promise<IgnoreRules> {
  const lines = await linesOf(folder, '.gitignore')
  if (lines.length === 0) return rules
  const prefix = relative(rules.root, folder)
  const patterns = lines.map((line) => relativeToRoot(line, prefix))
  return { root: rules.root, matcher: newMatcher().add(rules.matcher).add(patterns) }
}

export function isIgnored(rules: IgnoreRules, path: string, isFolder: boolean): boolean {
  return rules.matcher.ignores(`${relative(rules.root, path)}${isFolder ? '/' : ''}`)
}

/** A pattern of the `.gitignore` in `folder`, as the root's `.gitignore` would spell it. */
function relativeToRoot(line: string, folder: string): string {
  if (folder === '' || line.trim() === '' || line.startsWith('#')) return line
  const negated = line.startsWith('!')
  const body = negated ? line.slice(1) : line
  // These match nothing; with a folder in front they would match all of it.
  if (['', '/'].includes(body.trim())) return ''
  const start = `${negated ? '!' : ''}/${folder.replace(/[\\*?[\]]/g, '\\$&')}`
  if (body.startsWith('/')) return `${start}${body}`
  // A slash at the end only says "folder"; any other ties the pattern to its own folder.
  const tied = body.trimEnd().slice(0, -1).includes('/')
  return `${start}/${tied ? '' : '**/'}${body}`
}

function foldersBetween(root: string, workspace: string): string[] {
  const folders: string[] = []
  for (let at = workspace; at !== root; ) {
    at = dirname(at)
    folders.unshift(at)
  }
  return folders
}

async function linesOf(folder: string, name: string): Promise<string[]> {
  return linesIn(await readSettingsFile(folder, name))
}

function linesIn(text: string | null): string[] {
  return text === null ? [] : text.replace(/^\uFEFF/, '').split(/\r?\n/)
}
