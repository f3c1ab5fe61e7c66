import { stripVTControlCharacters } from 'node:util'

/** A symptom is embedded and searched by: more than this dilutes it. Characters. */
const MAX_SYMPTOM = 4_000
/** What is looked at; an endless output would only cost time. */
const MAX_INPUT = 100_000

const SOURCE_ROOTS = /^(src|lib|test|tests|spec|__tests__|packages|cmd|internal|pkg)$/
const FILE_ROOTS =
  '(?:home|Users|root|tmp|var|private|usr|opt|mnt|srv|work|workspace|workspaces|builds|nix|data)'
const FILE_ENDING =
  '\\.(?:py|pyi|js|mjs|cjs|jsx|ts|mts|cts|tsx|vue|svelte|go|rs|java|kt|rb|c|cc|cpp|h|json|toml|ya?ml|txt|md|sql|html|css|ini|cfg|log)'

/** A path counts as a file's only below a known root or with a file's ending: `/api/users` is a value. */
const ABSOLUTE_PATHS = new RegExp(
  `(?<![\\w./-])(?:file://)?(?:/${FILE_ROOTS}(?:/[\\w.@+~-]+)+|(?:/[\\w.@+~-]+)+${FILE_ENDING}\\b|[A-Za-z]:\\\\(?:[\\w.@+~ -]+\\\\)*[\\w.@+~-]+)`,
  'g',
)

/** What differs between two sights of one failure, in the order in which it is taken out. */
const NOISE: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  // Quoted times are values that a test compares; bare ones say when something was logged.
  [
    /(?<!['"`\d])\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?!['"`\d])/g,
    '<time>',
  ],
  [/("(?:time|timestamp|ts|at)"\s*:\s*)(?:"[^"\n]*"|\d+)/g, '$1<time>'],
  [/(?<!['"`\d:.])\b\d\d:\d\d:\d\d(?:[.,]\d+)?(?!['"`\d:])/g, '<time>'],
  [/\bduration_ms:? +[\d.]+/g, 'duration_ms'],
  [/ ?\((?:\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|seconds?|m|min))+\)/g, ''],
  [/\b(in|took|after) \d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|seconds?)\b/g, '$1 <duration>'],
  [/ \+0x[0-9a-f]+$/gm, ''],
  [/\b0x[0-9a-f]{6,}\b/gi, '0x'],
  [/^(thread '.*') \(\d+\) panicked/gm, '$1 panicked'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b/gi, '<id>'],
  [/\b\d{12,}\b/g, '<id>'],
  [new RegExp(`(${FILE_ENDING})(?::\\d+){1,2}`, 'g'), '$1'],
  [new RegExp(`(${FILE_ENDING})\\(\\d+,\\d+\\)`, 'g'), '$1'],
  [/(['"]), line \d+/g, '$1'],
  [/\b(line|column|col) \d+\b/gi, '$1'],
  [/\bgoroutine \d+/g, 'goroutine'],
  [/\b(pid[ =:]+)\d+/gi, '$1<pid>'],
  [/\b(localhost|127\.0\.0\.1|\[::1\]):(?:3[2-9]|[4-6]\d)\d{3}\b/g, '$1:<port>'],
  [/\[Previous line repeated \d+ more times?\]/g, '[Previous line repeated]'],
]

/** Go prints a function and, below it, where it stands; these are in its own library. */
const GO_LIBRARY_FRAMES = /^[^\t\n]+\n\t\S*\/go[^/\s]*\/src\/\S+\.go:\d+.*\n?/gm
const JS_FRAME = /^\s*(?:at |❯ ).*[\w)>](?: \{)?$/
const PY_FRAME = /^\s*(?:E\s+)?File "[^"]*"(?:, in .*)?$/
/** Frames of the runtime, the runner and its libraries: the same in every failure. */
const FOREIGN_FRAME =
  /node:internal|node_modules|\(node:|at node:|site-packages|<frozen |<anonymous>\)$|\blib\/python|async Promise\.all/

/** Markers below a line of source, and what Node and Rust add when they give up. */
const EMPTY_LINE = /^(?=.*[\^~])[\s^~]+$|^Node\.js v[\d.]+$|^note: run with `RUST_BACKTRACE/

/**
 * The text of a failure without what differs from run to run and from machine to machine: colours,
 * absolute paths, line numbers, addresses, times, ids, repeated and foreign stack frames. Messages,
 * names and compared values stay. At most 4,000 characters; a second pass changes nothing.
 */
export function normaliseSymptom(text: string): string {
  let result = stripVTControlCharacters(headAndTail(text, MAX_INPUT)).replace(/\r\n?/g, '\n')
  result = result.replace(GO_LIBRARY_FRAMES, '').replace(ABSOLUTE_PATHS, projectPath)
  for (const [pattern, replacement] of NOISE) result = result.replace(pattern, replacement)
  const lines = withoutRepeatedFrames(result.split('\n').map((line) => line.trimEnd()))
  return fitted(lines).trim()
}

/** An absolute path from its first source folder on; without one, the file's name. */
function projectPath(path: string): string {
  const parts = path
    .replace(/^file:\/\//, '')
    .split(/[/\\]/)
    .filter(Boolean)
  const packages = Math.max(parts.lastIndexOf('node_modules'), parts.lastIndexOf('site-packages'))
  if (packages >= 0) return parts.slice(packages).join('/')
  const root = parts.findIndex((part, index) => SOURCE_ROOTS.test(part) && index < parts.length - 1)
  return root > 0 ? parts.slice(root).join('/') : (parts.at(-1) ?? path)
}

function withoutRepeatedFrames(lines: string[]): string[] {
  const seen = new Set<string>()
  const kept: string[] = []
  let skipSource = false
  for (const line of lines) {
    const isPython = PY_FRAME.test(line)
    const isFrame = isPython || JS_FRAME.test(line)
    if (isFrame) {
      const known = seen.has(line.trim()) || FOREIGN_FRAME.test(line)
      seen.add(line.trim())
      // Python prints the frame's source below it.
      skipSource = known && isPython
      if (!known) kept.push(line)
      continue
    }
    const isSource = skipSource && /^\s{4,}\S/.test(line)
    skipSource = isSource
    const isRepeatedBlank = line === '' && kept.at(-1) === ''
    if (!isSource && !isRepeatedBlank && !EMPTY_LINE.test(line)) kept.push(line)
  }
  return kept
}

/** Stack frames go first, then the middle: messages stand at both ends. */
function fitted(lines: string[]): string {
  const whole = lines.join('\n')
  if (whole.length <= MAX_SYMPTOM) return whole
  const messages = lines.filter((line) => !JS_FRAME.test(line) && !PY_FRAME.test(line)).join('\n')
  return headAndTail(messages, MAX_SYMPTOM)
}

/** A text's beginning and end, where messages stand, in at most `max` characters. */
export function headAndTail(text: string, max: number): string {
  if (text.length <= max) return text
  const gap = '\n...\n'
  const head = Math.floor(max * 0.65)
  return text.slice(0, head) + gap + text.slice(text.length - (max - head - gap.length))
}

const ERROR_NAME =
  '(?:[a-z_][\\w]*\\.)*((?:[A-Z]\\w*)?(?:Error|Exception|Failure)|[A-Z]\\w*(?:Warning|Interrupt|Exit|Fault))'
const AT_LINE_START = new RegExp(
  `^\\s*(?:E\\s+)?(?:Uncaught |Caused by: |Unhandled )?${ERROR_NAME}(?=:| \\[|$)`,
  'm',
)
const AFTER_LOCATION = new RegExp(`^\\S+:\\d*:? ${ERROR_NAME}$`, 'm')
const ANYWHERE = new RegExp(`\\b${ERROR_NAME}\\b`)
const PANIC = /^\s*panic: |\bpanicked at\b/m
/** jest throws plain errors from its matchers and rewrites those of node:assert. */
const MATCHER = /^\s*(?:Error: expect\(|assert(?:\.\w+)?\(received)/m

/**
 * The name of the first error class in a failure's text, such as `TypeError`, without its module;
 * `panic` for Go and Rust; `TestFailure` when the text names none.
 */
export function errorTypeOf(text: string): string {
  const plain = stripVTControlCharacters(headAndTail(text, MAX_INPUT))
  const found = [AT_LINE_START, AFTER_LOCATION, PANIC, ANYWHERE]
    .map((pattern) => pattern.exec(plain))
    .find((match) => match !== null)
  const name = found ? (found[1] ?? 'panic') : 'TestFailure'
  const isPlain = name === 'Error' || name === 'TestFailure'
  return isPlain && MATCHER.test(plain) ? 'AssertionError' : name
}
