import { plainLines } from './clip.ts'
import { mentionedError, type PrintedError, printedErrors } from './printed-errors.ts'

/** Python's words between an exception and the one that was raised while it was handled. */
const CHAINED =
  /^(?:The above exception was the direct cause of the following exception|During handling of the above exception, another exception occurred):$/gm
/** jest throws plain errors from its matchers and rewrites those of node:assert. */
const MATCHER = /^[ \t]*(?:Error: expect\(|expect\(received|assert(?:\.\w+)?\(received)/m
const ERRNO =
  'E(?:CONN|HOST|NET|NOT|ADDR)[A-Z]+|EACCES|EEXIST|EINVAL|EISDIR|EMFILE|ENOENT|ENOSPC|EPERM|EPIPE|EROFS|ETIMEDOUT|EAI_AGAIN'
/** What tells plain errors apart: `Error [ERR_X]`, `connect ECONNREFUSED`, `code: 'ENOENT'`. */
const CODE = new RegExp(
  `^.*?\\bError \\[([A-Z]\\w+)\\]|^.*?\\b(${ERRNO}|ERR_[A-Z_]+)\\b|\\n[ \\t]*code: '([A-Z][A-Z0-9_]+)'`,
)
const CODE_ANYWHERE = new RegExp(`\\b(${ERRNO})\\b|\\bSQLSTATE[ :[]+([0-9A-Z]{5})\\b`)

/**
 * The name of the error in a failure's text, without its module, such as `TypeError`. Of chained
 * exceptions it is the one that was raised last, which is what the test saw: Python prints it last,
 * Java and .NET print it first. Of several failures it is the first one's. A plain `Error` is named
 * by its code, when it has one. `panic` for Go and Rust, `fatal error` when Go's runtime gives up,
 * a compiler's code for what does not build; `TestFailure` when the text names no error.
 */
export function errorTypeOf(text: string): string {
  const plain = plainLines(text).join('\n')
  const printed = printedErrors(plain)
  const seen = lastOfChain(
    printed,
    [...plain.matchAll(CHAINED)].map(({ index }) => index),
  )
  if (seen !== undefined && seen.name !== 'Error') return seen.name
  if (MATCHER.test(plain)) return 'AssertionError'
  if (seen) return codeIn(CODE, ownLines(plain, printed, seen)) ?? seen.name
  return mentionedError(plain) ?? codeIn(CODE_ANYWHERE, plain) ?? 'TestFailure'
}

/** A chain goes on from the first error while no other failure's error stands before its mark. */
function lastOfChain(printed: readonly PrintedError[], marks: readonly number[]) {
  let seen = printed[0]
  let next = 1
  for (const mark of marks) {
    if (seen === undefined || mark < seen.at) continue
    const { name } = seen
    // pytest names an exception twice: with its message, and where it was raised.
    while ((printed[next]?.at ?? mark) < mark && printed[next]?.name === name) next += 1
    const raised = printed[next]
    if (raised === undefined || raised.at < mark) break
    seen = raised
    next += 1
  }
  return seen
}

/** Up to the next error: what is below that is another's. */
function ownLines(text: string, printed: readonly PrintedError[], { at }: PrintedError): string {
  return text.slice(at, printed.find((error) => error.at > at)?.at)
}

function codeIn(pattern: RegExp, text: string): string | undefined {
  return pattern
    .exec(text)
    ?.slice(1)
    .find((group) => group !== undefined)
}
