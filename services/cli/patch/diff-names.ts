import { parsePatch } from 'diff'
import { UsageError } from '../../../shared/errors.ts'

/** What a file is called before and after; null: it is not there. */
export type DiffNames = { from: string | null; to: string | null }

/**
 * The names in a header that begins with `diff --git`. With prefixes of one letter (`a/`, `b/`, or
 * what diff.mnemonicPrefix makes) or with none.
 */
export function gitNames(header: readonly string[]): { from: string; to: string } {
  const [line = '', ...extended] = header
  const moved = extended.some((each) => /^(rename|copy) (from|to) /.test(each))
  const same = moved ? line : withPrefixes(line)
  // The library unquotes; it reads names with the prefixes a/ and b/ only.
  const [found] = same === null ? [] : parsePatch([same, ...extended].join('\n'))
  const { oldFileName, newFileName } = found ?? {}
  if (oldFileName?.startsWith('a/') && newFileName?.startsWith('b/')) {
    return { from: oldFileName.slice(2), to: newFileName.slice(2) }
  }
  throw new UsageError(`cannot tell which file this part of the patch is of: ${line}`, {
    hint: 'make it with `git diff` in the workspace, with the usual prefixes or with --no-prefix',
  })
}

/** The line with prefixes of which one kind is left. Both halves are one name, or null is returned. */
function withPrefixes(line: string): string | null {
  const rest = line.slice('diff --git '.length)
  const middle = (rest.length - 1) / 2
  if (rest[middle] !== ' ') return null
  const halves = [rest.slice(0, middle), rest.slice(middle + 1)] as const
  const quote = rest.startsWith('"') ? '"' : ''
  const [one, two] = [halves[0].slice(quote.length), halves[1].slice(quote.length)]
  const name = one === two ? one : prefixed(one) === prefixed(two) ? prefixed(one) : null
  return name === null ? null : `diff --git ${quote}a/${name} ${quote}b/${name}`
}

const prefixed = (name: string) => /^[a-z]\/(.+)$/s.exec(name)?.[1] ?? null

/** The names in the `---` and `+++` of a diff that git did not make. */
export function plainNames(before: string, after: string): DiffNames {
  if (before === '/dev/null') return { from: null, to: after.replace(/^b\//, '') }
  if (after === '/dev/null') return { from: before.replace(/^a\//, ''), to: null }
  if (before === after) return { from: before, to: after }
  const [one, two] = [withoutFirst(before), withoutFirst(after)]
  if (one !== null && one === two) return { from: one, to: two }
  throw new UsageError(`the patch makes ${after} of ${before}: are they one file?`, {
    hint: 'the two names must be the same apart from their first folder; `git diff` makes them so',
  })
}

const withoutFirst = (name: string) => /^[^/]+\/(.+)$/s.exec(name)?.[1] ?? null
