const NAMED = '[A-Z]\\w*?(?:Error|Exception|Failure|Warning|Interrupt|Exit|Fault)(?!\\w)'
const RUBY = '(?:[A-Z]\\w*::)*'
const MODULE = '(?:[\\w$-]+[.\\\\$])*'
const BEFORE =
  '(?:\\[ERROR\\] |# )?[ \\t]*(?:E[ \\t]+)?(?:(?:FAILED|ERROR) \\S+ - |Uncaught |Unhandled |Caused by: |Exception in thread "[^"\\n]*" |-{2,} ?|\\d+\\) )?\\[?'

/** Where runners and runtimes print the class of what was thrown. */
const PRINTED: readonly RegExp[] = [
  // testify has a field of this name, with tabs behind it.
  new RegExp(
    `^${BEFORE}${MODULE}(${RUBY}(?:${NAMED}|Error|Exception))(?= ?:(?! *\\t)| \\[|\\]|$)`,
    'gm',
  ),
  // The last line of a traceback in Python: any class.
  /^\S+\.pyx?:\d+: (?:\w+\.)*([A-Z]\w*)(?=$|: )/gm,
  /^E[ \t]+(?:\w+\.)+([A-Z]\w*)(?=: |$)/gm,
  /(?<=^ *File "[^\n]*\n(?: {4,}\S[^\n]*\n){1,2})(?:\w+\.)*([A-Z]\w*)(?=: |$)/gm,
  // A class of its own in JavaScript, TAP, Java and Kotlin: its stack stands below.
  /^[ \t]*([A-Z]\w{2,}): .*\n(?:[ \t]*\n)?[ \t]*(?:at |❯ )/gm,
  /^ +name: '([A-Z]\w*)'$/gm,
  /^(?:[a-z]\w*\.)+(?:\w+\$)*([A-Z]\w*)(?:: .*)?\n[ \t]+at /gm,
  // Compilers
  /\berror (TS\d+):|^error\[(E\d+)\]:/gm,
  /^(panic)(?=: )|\bpanicked at\b/gm,
  /^(fatal error)(?=: )/gm,
]
const ANYWHERE = new RegExp(`(?<![\\w:])(${RUBY}${NAMED})`)

/** The name of an error and where the line begins that says it. */
export type PrintedError = { name: string; at: number }

/** The errors that a text names as the one that was thrown, in their order. */
export function printedErrors(text: string): PrintedError[] {
  return PRINTED.flatMap((pattern) => [...text.matchAll(pattern)].map(named)).sort(
    (one, other) => one.at - other.at,
  )
}

/** An error's name in the middle of a sentence. */
export function mentionedError(text: string): string | null {
  return ANYWHERE.exec(text)?.[1] ?? null
}

function named(match: RegExpExecArray): PrintedError {
  const name = match.slice(1).find((group) => group !== undefined && group !== '')
  return { name: name ?? 'panic', at: match.index }
}
