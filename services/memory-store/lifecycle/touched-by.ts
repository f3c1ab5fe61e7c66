import type { MemoryRecord, Touched } from '../../../shared/contracts/record.ts'

/** Enough to see whether a place in the code is still there. */
const MAX_NAMES = 60
const NAME = /[\p{L}_$][\p{L}\p{N}_$]{2,63}/gu

/** Words of the languages themselves: they are in any file. */
const KEYWORDS = new Set(
  `abstract and any as assert async await bool boolean break byte case catch chan char class const
  continue crate def default defer del delete elif else enum except export extends extern false final
  finally float float64 fmt fn for from func function get global go goto if impl implements import in
  int int64 interface internal is lambda len let list long map match mod module mut new nil none
  nonlocal not null number object of or override package pass private protected public pub raise range
  readonly return select self set static str string struct super switch this throw throws trait true
  try type typeof undefined unsafe use val var void where while with yield`.split(/\s+/),
)

/** What the diff of a record touched; its own files where it has no diff that names any. */
export function touchedBy({ diff, file_paths }: MemoryRecord): Touched {
  const lines = diff.split('\n')
  const files = lines.flatMap((line) => /^\+\+\+ (?:b\/)?(.+)$/.exec(line)?.[1] ?? [])
  const changed = lines.filter((line) => /^[+-]/.test(line) && !/^(\+\+\+|---) /.test(line))
  const names = changed.flatMap((line) => line.match(NAME) ?? [])
  const telling = names.filter((name) => !KEYWORDS.has(name.toLowerCase()))
  return {
    files: files.length > 0 ? [...new Set(files)] : file_paths,
    identifiers: [...new Set(telling)].slice(0, MAX_NAMES),
  }
}
