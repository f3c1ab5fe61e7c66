const SHOWN = 10

/** Why a patch was not applied: what changed, and what of it is in the workspace all the same. */
export function changedText({ changed, done }: { changed: string[]; done: string[] }): string {
  const half = done.length === 0 ? '' : `; half-applied: ${nameSome(done)} already as in the patch`
  return `changed since the snapshot: ${nameSome(changed)}${half}`
}

export function nameSome(paths: string[]): string {
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''
  return `${paths.slice(0, SHOWN).join(', ')}${more}`
}
