import { closingBracket } from './expressions.ts'
import { ownTestName } from './failure.ts'
import { functionsOf } from './functions.ts'
import type { Source } from './source.ts'

/** The source of the failing tests, and what it names. */
export type FailingTests = {
  /** Identifiers in the failing tests themselves. */
  names: Set<string>
  /** Identifiers anywhere in their files. */
  fileNames: Set<string>
  literals: string[]
}

/** Reads the failing tests in the test files; where a test is not found, its whole file counts. */
export function readFailingTests(
  failing: readonly string[],
  tests: readonly Source[],
): FailingTests {
  const titles = failing.map(ownTestName)
  const blocks = tests.map((source) => {
    const found = titles.flatMap((title) => blockOf(source, title))
    return found.length > 0 ? found.join('\n') : ''
  })
  const all = tests.map((source) => source.text).join('\n')
  const text = blocks.join('\n').trim() || all
  return {
    names: identifiersIn(text),
    fileNames: identifiersIn(all),
    literals: [...text.matchAll(/(['"`])((?:\\.|(?!\1)[^\\\n])*)\1/g)].map(
      (match) => match[2] ?? '',
    ),
  }
}

function blockOf(source: Source, title: string): string[] {
  if (title === '') return []
  if (source.language === 'python') {
    const range = functionsOf(source).find((each) => each.name === title)
    return range ? [source.text.slice(range.start, range.end)] : []
  }
  const at = source.text.indexOf(title)
  const open = at < 0 ? -1 : source.code.lastIndexOf('(', at)
  const close = open < 0 ? -1 : closingBracket(source.code, open)
  return close < at ? [] : [source.text.slice(open, close)]
}

const identifiersIn = (text: string) => new Set(text.match(/[A-Za-z_$][\w$]*/g) ?? [])
