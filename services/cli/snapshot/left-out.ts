import type { WorkspaceList } from './list-workspace.ts'

const SHOWN = 5

/** Names what a snapshot left out, or null when nothing was. */
export function leftOutText(leftOut: WorkspaceList['leftOut']): string | null {
  if (leftOut.length === 0) return null
  const named = leftOut.slice(0, SHOWN).map(({ path, why }) => `${path} (${why})`)
  const more = leftOut.length > SHOWN ? ` and ${leftOut.length - SHOWN} more` : ''
  return `left out of the snapshot: ${named.join(', ')}${more}`
}
