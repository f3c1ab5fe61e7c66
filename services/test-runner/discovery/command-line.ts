import type { Runner } from '../../../shared/contracts/receipt.ts'

/** A test command that a workspace offers. */
export type TestCommand = {
  /** What people and models see and choose by. */
  display: string
  runner: Runner
  /** What follows the runner's own words. */
  args: string[]
  /** Variables that the command sets for itself, as in `NODE_OPTIONS=... jest`. */
  env: Record<string, string>
}

const RUNNER_WORDS: readonly (readonly [Runner, readonly string[]])[] = [
  ['vitest', ['vitest']],
  ['jest', ['jest']],
  ['mocha', ['mocha']],
  ['pytest', ['pytest']],
  ['unittest', ['python', '-m', 'unittest']],
  ['go', ['go', 'test']],
  ['cargo', ['cargo', 'test']],
]

/** Words that run what follows them without changing which tests run. */
const WRAPPERS = /^(npx|pnpm|yarn|bunx|c8|nyc|cross-env|exec|--no-install|poetry|uv|run|pipenv)$/

/**
 * Flags of ours, ones that never end, and ones that end at the first failure: what was not run says
 * nothing. A value that follows is dropped with them.
 */
const DROPPED: Partial<Record<Runner, RegExp>> = {
  vitest: /^(run|watch|--run|--watch|-w|--coverage.*|--ui|--reporter.*|--outputFile.*|--bail.*)$/,
  jest: /^(--watch.*|--coverage.*|--json|--outputFile.*|--reporters.*|-b|--bail.*)$/,
  mocha: /^(--watch|-w|--reporter.*|-R|-b|--bail)$/,
  node: /^(--test|--watch|--test-reporter.*|--experimental-test-coverage)$/,
  pytest: /^(--junit-?xml.*|--color.*|-x|--exitfirst|--maxfail.*|--sw|--stepwise.*|--sw-.*)$/,
  unittest: /^(-f|--failfast)$/,
  go: /^(-json|-v|-count.*|--?(test\.)?failfast.*)$/,
}
const TAKES_VALUE =
  /^(--reporter|--reporters|--outputFile|--test-reporter|--test-reporter-destination|-R|--junit-?xml|--color|-count|--maxfail)$/
/** The number after them is theirs; without one, what follows may be a path. */
const TAKES_NUMBER = /^(-b|--bail)$/

const DISPLAY: Record<Runner, string> = {
  vitest: 'vitest',
  jest: 'jest',
  mocha: 'mocha',
  node: 'node --test',
  pytest: 'pytest',
  unittest: 'python -m unittest',
  go: 'go test',
  cargo: 'cargo test',
}

export function testCommand(
  runner: Runner,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): TestCommand {
  const kept = withoutDropped(runner, args)
  if (runner === 'go' && !kept.some((arg) => !arg.startsWith('-'))) kept.push('./...')
  const shown = kept.map((arg) => (/[\s"']/.test(arg) ? JSON.stringify(arg) : arg))
  return { display: [DISPLAY[runner], ...shown].join(' '), runner, args: kept, env }
}

/**
 * The test command in a line of shell, such as an npm script: the first part of an `&&` chain that
 * starts with a known runner. Null when there is none, or when it needs a shell to run.
 */
export function parseCommandLine(line: string): TestCommand | null {
  for (const part of line.split(/&&|;/)) {
    const words = shellWords(part.trim())
    const found = words && recognise(words)
    if (found) return found
  }
  return null
}

function recognise(words: readonly string[]): TestCommand | null {
  const env: Record<string, string> = {}
  let at = 0
  for (; at < words.length; at += 1) {
    const word = words[at] ?? ''
    const assignment = /^([A-Za-z_]\w*)=(.*)$/s.exec(word)
    if (assignment) env[assignment[1] ?? ''] = assignment[2] ?? ''
    else if (!WRAPPERS.test(word)) break
  }
  const rest = words.slice(at).map((word, index) => (index === 0 ? programName(word) : word))
  if (rest[0] === 'node' && rest.includes('--test')) return testCommand('node', rest.slice(1), env)
  if (rest[0] === 'python' && rest[1] === '-m' && rest[2] === 'pytest') {
    return testCommand('pytest', rest.slice(3), env)
  }
  for (const [runner, start] of RUNNER_WORDS) {
    if (start.every((word, index) => rest[index] === word)) {
      return testCommand(runner, rest.slice(start.length), env)
    }
  }
  return null
}

/** `./node_modules/.bin/jest` is jest, `python3` is python. */
function programName(word: string): string {
  const name = word.split('/').at(-1) ?? word
  if (/^python[\d.]*$/.test(name)) return 'python'
  return name === 'py.test' ? 'pytest' : name
}

function withoutDropped(runner: Runner, args: readonly string[]): string[] {
  const dropped = DROPPED[runner]
  const kept: string[] = []
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? ''
    if (!dropped?.test(arg)) kept.push(arg)
    else if (TAKES_VALUE.test(arg)) index += 1
    else if (TAKES_NUMBER.test(arg) && /^\d+$/.test(args[index + 1] ?? '')) index += 1
  }
  return kept
}

/** The words of a simple command; null for one that needs a shell: pipes, variables, redirection. */
function shellWords(text: string): string[] | null {
  const words: string[] = []
  const pattern = /\s*((?:"[^"$`\\]*"|'[^']*'|[^\s"'$`|<>&()\\])+)/y
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text)
    if (!match) return null
    words.push((match[1] ?? '').replace(/"([^"]*)"|'([^']*)'/g, '$1$2'))
  }
  return words
}
