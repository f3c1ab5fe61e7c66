import { parsePatch, type StructuredPatch, type StructuredPatchHunk } from 'diff'
import { errorText, UsageError } from '../../../shared/errors.ts'
import { type DiffNames, gitNames, plainNames } from './diff-names.ts'

/** What a diff says of one file. */
export type FileDiff = DiffNames & {
  /** Copied: the file that it comes from stays. */
  isCopy: boolean
  changesMode: boolean
  hunks: StructuredPatchHunk[]
}

const HEADER = /^(--- |@@ )/
const MAIL = /^From [0-9a-f]{40,64} /

/** Reads a unified diff, with or without git's headers. Throws UsageError that names file and fault. */
export function readDiff(text: string): FileDiff[] {
  // Only a line feed ends a line here: regular expressions would take other characters for an end.
  const lines = withoutSignatures(text.split('\n'))
  const merge = lines.find((line) => /^diff --(cc|combined) /.test(line))
  if (merge) throw new UsageError(`the patch has a merge (${merge}): diff it with one parent`)
  const parts: string[][] = [[]]
  for (const line of lines) {
    if (line.startsWith('diff --git ') || MAIL.test(line)) parts.push([])
    parts.at(-1)?.push(line)
  }
  const [before = [], ...others] = parts
  const ofGit = others.filter(([first = '']) => !MAIL.test(first))
  return [...readPlain(before), ...ofGit.map(readGitPart)]
}

/** `git format-patch` ends each mail with the version of git, behind a line that looks removed. */
function withoutSignatures(lines: string[]): string[] {
  if (!MAIL.test(lines[0] ?? '')) return lines
  const isEnd = (at: number) => {
    const next = lines.findIndex((line, n) => n > at + 1 && line !== '')
    return next < 0 || MAIL.test(lines[next] ?? '')
  }
  return lines.filter((line, at) => line !== '-- ' || !isEnd(at))
}

function readGitPart(lines: string[]): FileDiff {
  refuseCarriageReturn(lines[0])
  const body = lines.findIndex((line) => HEADER.test(line))
  const header = body < 0 ? lines : lines.slice(0, body)
  const names = gitNames(header)
  refuseOtherKinds(header, names.to)
  const [file, ...more] = parse(lines, names.to)
  if (!file || more.length > 0) throw unreadable(names.to, 'another diff follows it')
  const { isCreate, isDelete, isCopy, oldMode, newMode, hunks } = file
  return {
    from: isCreate ? null : names.from,
    to: isDelete ? null : names.to,
    isCopy: isCopy ?? false,
    changesMode: !isDelete && newMode !== (isCreate ? '100644' : oldMode),
    hunks,
  }
}

function refuseOtherKinds(header: string[], name: string): void {
  for (const line of header) {
    if (/^(Binary files .* differ|GIT binary patch)$/.test(line)) throw binary(name)
    const mode = /^(?:index \S+|(?:new|old|new file|deleted file) mode) (120000|160000)$/.exec(line)
    if (!mode) continue
    const what = mode[1] === '120000' ? 'a link' : 'a submodule'
    throw new UsageError(`${name} is ${what} in the patch: only text files can be proved`)
  }
}

/** Diffs without git's headers. What stands around them is passed over. */
function readPlain(lines: string[]): FileDiff[] {
  for (const line of lines) {
    const other = /^Binary files .* and (.*) differ$/.exec(line)
    if (other) throw binary(other[1] ?? '')
  }
  const start = lines.findIndex((line) => HEADER.test(line))
  if (start < 0) return []
  refuseCarriageReturn(lines[start])
  return parse(lines.slice(start), null).map(({ oldFileName, newFileName, hunks }) => {
    if (!oldFileName || !newFileName) throw unreadable(null, 'it does not name its files')
    return { ...plainNames(oldFileName, newFileName), isCopy: false, changesMode: false, hunks }
  })
}

/** The files of a diff. The library passes over what it does not know: no change may be lost so. */
function parse(lines: string[], name: string | null): StructuredPatch[] {
  let files: StructuredPatch[]
  try {
    files = parsePatch(lines.join('\n'))
  } catch (error) {
    throw unreadable(name, errorText(error))
  }
  const withHunks = files.filter((file) => file.hunks.length > 0)
  const hunks = withHunks.flatMap((file) => file.hunks)
  const isChange = (line: string) => /^([+-]|@@)/.test(line)
  const read = hunks.flatMap((hunk) => hunk.lines).filter(isChange).length + hunks.length
  if (lines.filter(isChange).length === read + 2 * withHunks.length) return files
  throw unreadable(name, 'there are changed lines outside of its hunks')
}

function refuseCarriageReturn(header: string | undefined): void {
  if (!header?.endsWith('\r')) return
  throw new UsageError("the line ends of the patch's own headers were changed to CRLF", {
    hint: 'make it again with `git diff --output=FILE`',
  })
}

const binary = (name: string) =>
  new UsageError(`${name} is binary in the patch: only text files can be proved`)

function unreadable(name: string | null, why: string): UsageError {
  return new UsageError(`the patch${name === null ? '' : ` of ${name}`} cannot be read: ${why}`, {
    hint: 'it must be a unified diff, such as `git diff` writes',
  })
}
