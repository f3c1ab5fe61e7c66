import { isForeignFrame, isPythonFrame } from './stack-frames.ts'

const GO_FUNCTION =
  /^(?:created by )?[\w./\-*()$[\]·…{}]+\(.*\)(?: in goroutine \d+)?$|^created by \S+(?: in goroutine \d+)?$/
const GO_PLACE = /^\t\S+\.(?:go|s):\d+(?: \+0x[0-9a-f]+)?$/
const GO_LIBRARY =
  /\/src\/(?:testing|runtime|net|sync|os|io|fmt|reflect|time|context|encoding|database|internal|syscall|bufio|bytes|strings|sort|slices|maps|errors|log|math|regexp|html|text|crypto)\/|\/pkg\/mod\/|\/vendor\/|_testmain\.go/
const RUST_FUNCTION = /^\s+\d+: +(?:0x[0-9a-f]+ - )?(\S.*)$/
const RUST_PLACE = /^\s+at \S+:\d+(?::\d+)?$/
const RUST_LIBRARY =
  /^(?:_*rust|core::|std::|alloc::|test::|<?(?:fn\(|[A-Z]\w* as |.* as (?:core|std|alloc)::)|_*start|__libc|main$|clone)|\/rustc\/|\/\.cargo\/registry\//

/** Python's and pytest's frames have their source below. */
const SOURCE_BELOW = /^(?:>? {4,}|\t)\S/
const PYTEST_SEPARATOR = /^(?:_ ){5,}_?\s*$|^_{3,}.*_{3,}$/
const PYTEST_PLACE = /^(\S+\.pyx?):\d+:(?: [\w.]+)?\s*$/
const PYTEST_ERROR = /^E\s/

/** The lines of a text without the frames of runtimes, runners and libraries. */
export function withoutForeignFrames(lines: readonly string[]): string[] {
  return withoutForeignLines(withoutForeignPairs(withoutForeignSource(lines)))
}

function withoutForeignLines(lines: readonly string[]): string[] {
  let isBelowForeign = false
  return lines.filter((line) => {
    if (isForeignFrame(line)) {
      isBelowForeign = isPythonFrame(line)
      return false
    }
    isBelowForeign = isBelowForeign && (SOURCE_BELOW.test(line) || line.trim() === '???')
    return !isBelowForeign
  })
}

/** Go and Rust print a function and, below it, where it stands. */
function withoutForeignPairs(lines: readonly string[]): string[] {
  const kept: string[] = []
  const seen = new Set<string>()
  for (let at = 0; at < lines.length; at += 1) {
    const [line = '', next = ''] = lines.slice(at, at + 2)
    const pair = goPair(line, next) ?? rustPair(line, next)
    if (!pair) {
      kept.push(line)
      continue
    }
    at += pair.place.length
    if (!pair.isForeign && !seen.has(pair.name)) kept.push(pair.name, ...pair.place)
    seen.add(pair.name)
  }
  return kept
}

type Pair = { name: string; place: string[]; isForeign: boolean }

/** The arguments are addresses. */
function goPair(line: string, next: string): Pair | null {
  if (!GO_PLACE.test(next) || !GO_FUNCTION.test(line)) return null
  const name = line.replace(/\((?!\*).*$/, '(...)')
  return { name, place: [next], isForeign: GO_LIBRARY.test(next) }
}

function rustPair(line: string, next: string): Pair | null {
  const symbol = RUST_FUNCTION.exec(line)?.[1]
  const place = RUST_PLACE.test(next) ? [next] : []
  if (symbol === undefined || (place.length === 0 && !symbol.includes('::'))) return null
  const name = `  ${symbol.replace(/(?:::\{\{closure\}\})+$/, '')}`
  return { name, place, isForeign: RUST_LIBRARY.test(symbol) || RUST_LIBRARY.test(place.join()) }
}

/** pytest prints the whole source of the function that raised, of libraries too. */
function withoutForeignSource(lines: readonly string[]): string[] {
  const kept: string[] = []
  let start = 0
  for (const line of lines) {
    const isForeign = PYTEST_PLACE.test(line) && isForeignFrame(`File "${line}"`)
    if (PYTEST_SEPARATOR.test(line)) {
      kept.push(line)
      start = kept.length
    } else if (isForeign) {
      const errors = kept.slice(start).filter((each) => PYTEST_ERROR.test(each))
      kept.splice(start, kept.length, ...errors)
    } else {
      kept.push(line)
      if (PYTEST_PLACE.test(line)) start = kept.length
    }
  }
  return kept
}
