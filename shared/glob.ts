import picomatch from 'picomatch'

/** More in one glob, or in one segment of it, would let a repository choose how long we search. */
const MAX_STARS = 6
const MAX_STARS_IN_SEGMENT = 2

/** What keeps a glob of a repository from being used, or null. */
export function globProblem(glob: string): string | null {
  const stars = (text: string) => text.match(/\*+/g)?.length ?? 0
  if (glob.length > 500) return 'is longer than 500 characters'
  if (stars(glob) > MAX_STARS) return `has more than ${MAX_STARS} stars`
  const tooMany = glob.split('/').some((segment) => stars(segment) > MAX_STARS_IN_SEGMENT)
  return tooMany ? `has more than ${MAX_STARS_IN_SEGMENT} stars between two slashes` : null
}

/** Whether a path matches one of the globs: `*`, `**`, `?`, `[...]` and `{a,b}`, nothing else. */
export function globMatcher(globs: readonly string[], { dot }: { dot: boolean }) {
  return picomatch([...globs], { dot, noextglob: true })
}
