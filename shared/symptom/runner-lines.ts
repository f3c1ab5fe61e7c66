/** What runners print besides failures: banners, progress, counts, times, advice. */
const NOISE: readonly RegExp[] = [
  // Rules of one sign, and markers below a line of source
  /^([=_\-*~─━⎯—!#+.])\1{2,}$|^(?:[_-] ){3,}[_-]?$|^⎯+\[\d+\/\d+\]⎯+$|^[\s^~|+-]*(?:\^|~~)[\s^~|+-]*$/,
  // pytest
  /^=+ (?:test session starts|FAILURES|ERRORS|short test summary info|warnings summary.*|slowest.*|PASSES) =+$/,
  /^-+ ?Captured .* -+$|^-+ generated .* -+$|^!+ .* !+$|^(?:E +)?Use -v to get|^E$|^\S+\.py:(?:\d+: ?)?$/,
  /^(?:platform \w+ -- |rootdir: |configfile: |plugins: |cachedir: |asyncio: mode=|collecting |collected \d+ |no tests ran in )/,
  /^(?:\S+\.py )?[.FEsxX]+ +\[ *\d+%\]$|^\S+::.* (?:PASSED|SKIPPED|XFAIL|XPASS)(?: +\[ *\d+%\])?$|^(?:PASSED|SKIPPED|XFAIL) /,
  /^=*\s*(?:\d+ (?:failed|passed|skipped|errors?|warnings?|deselected|xfailed|xpassed|rerun)(?:, | in )?)+[\d.]*s?(?: \([\d:]+\))?\s*=*$/,
  /^Hint: make sure your test modules/,
  // unittest
  /^Ran \d+ tests? in |^FAILED \((?:failures|errors|skipped|expected failures|unexpected successes)=|^Traceback(?: \(most recent call last\))?:$|\.\.\. (?:ok|skipped .*)$|^\w+ \([\w.]+\) \.\.\.$/,
  // node --test, TAP
  /^[ℹ#]? ?(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms):? *[\d.]*(?: +ℹ .*)?$|^✔ |^✓ |^TAP version \d+$|^ok \d+|^\d+\.\.\d+$|^(?:# )?Subtest: |^---$|^\.\.\.$/,
  /^(?:failureType|type|signal|exitCode|generatedMessage|diff|location|duration_ms): ?.*$|^(?:stack|error): \|-$|^error: 'test failed'$|^node:\S+:\d+$|^▶ |^code: 'ERR_(?:TEST_FAILURE|ASSERTION)',?$|^error: '\d+ subtests? failed'$|^'(?:test failed|\d+ subtests? failed)'$/,
  /^✖ failing tests:$|^test at \S+$|^Node\.js v[\d.]+$|^(?:\(node:\d+\) )?ExperimentalWarning: |^\(Use `node --trace-|^[{}],?$|^throw new ERR_\w+\($/,
  // vitest, jest, mocha
  /^(?:Test Files|Tests|Test Suites|Snapshots|Start at|Duration|Time|Isolate|Type Errors|Errors):? +(?:[\d.~]+|no ).*$|^RUN +v[\d.]+|^Failed (?:Suites|Tests) \d+$|^at least ~.*$|^Ran all test suites|^PASS |^⎯+ .* ⎯+$|^Serialized Error:$|^❯ \S+ \(\d+ tests?\b.*|^❯ [^()]+ \(\d+\)$/,
  /^[-+] (?:Expected|Received)(?: +[-+] \d+)?$|^\+ (?:actual - expected|expected - actual)$|^\+ expected - actual$|^- actual \+ expected$|^If this is a long-running test, |^Add a timeout value to this test/,
  /^\d+ (?:passing|failing|pending)(?: .*)?$/,
  // Go
  /^=== (?:RUN|PAUSE|CONT|NAME)|^--- (?:PASS|SKIP): |^(?:FAIL|PASS|ok)$|^(?:FAIL|ok)\s+\S+\s+(?:[\d.]+s|\[\w[^\]]*\]|\(cached\))$|^exit status \d+$|^\[recovered\]$/,
  // cargo
  /^(?:Compiling|Finished|Running|Doc-tests|Downloaded|Downloading|Updating|Blocking|Fresh) .*$|^running \d+ tests?$|^test \S.* \.\.\. (?:ok|ignored.*)$|^test result: |^failures:$|^stack backtrace:$|^note: (?:run with `RUST_BACKTRACE|Some details are omitted)|^error: (?:test failed, to rerun|\d+ targets? failed|could not compile|aborting due to)|^warning: build failed|^Some errors have detailed|^For more information about (?:an|this) error/,
  // Maven, Gradle, .NET, RSpec, PHPUnit
  /^Tests run: \d+|^(?:Failures|Errors|Results):$|^Failed to execute goal |^Please refer to |^-> \[Help|^\[Help \d+\]|^To see the full stack trace|^Re-run Maven|^For more information about the errors and|^BUILD (?:FAILURE|FAILED|SUCCESS).*$|^There (?:are|were) (?:test )?failures/,
  /^> Task |^\d+ tests? completed, |^\* (?:What went wrong|Try|Exception is|Get more help):?|^> (?:Run with |There were failing tests|Get more help)|^Execution failed for task|^\d+ actionable tasks/,
  /^(?:Failed|Passed)! +- +Failed:|^(?:Error Message|Stack Trace|Standard Output Messages):$|^Total tests: |^Test Run (?:Failed|Successful)/,
  /^(?=.*\.)[.FEISWRD*]{2,}(?: +\d+ \/ \d+ \(\d+%\))?$|^FAILURE: Build failed|^\d+ examples?, \d+ failures?|^Finished in |^rspec \S+ #|^Failed examples:$|^(?:FAILURES|ERRORS)!$|^There (?:was|were) \d+ (?:error|failure)s?:$|^Tests: \d+, Assertions: |^PHPUnit [\d.]+/,
]

/** Lines that name a failed test: their names stay, what the runner draws around them goes. */
const TITLES: readonly (readonly [RegExp, string])[] = [
  [/^_{2,} (?:ERROR (?:at \w+ of|collecting) )?(\S.*?) _{2,}$/, '$1'],
  [/^(?:FAIL|ERROR): (.+)$/, '$1'],
  [/^✖ (.+)$/, '$1'],
  [/^not ok \d+ - (.+)$/, '$1'],
  [/^● (.+)$/, '$1'],
  [/^FAIL +(\S+) \[ .* \]$/, '$1'],
  [/^FAIL +(\S.*)$/, '$1'],
  [/^--- FAIL: (.+)$/, '$1'],
  [/^-{3,} (.+) stdout -{3,}(.*)$/, '$1$2'],
  [/^(.+?) -- Time elapsed: .* <<< (?:FAILURE|ERROR)!.*$/, '$1'],
  [/^(.+?) +Time elapsed: .* <<< (?:FAILURE|ERROR)!.*$/, '$1'],
  [/^(\w+(?: > .+)+) FAILED$/, '$1'],
  [/^Failed ([\w.]+\.[\w.<>(),"]+)$/, '$1'],
  [/^\d+\) (.+)$/, '$1'],
]

/** A list of what failed, which says nothing new beside the failures themselves. */
const LISTED: readonly RegExp[] = [
  /^(\S+::\S.*?) (?:FAILED|ERROR)(?: +\[ *\d+%\])?$/,
  /^(.*) \.\.\. (?:FAIL|ERROR)$/,
  /^test (.+?)(?: - should panic)? \.\.\. FAILED$/,
  /^(?:FAILED|ERROR) (\S+(?:::\S+)?)(?: - (.*))?$/,
  /^[×✕] (.+?)(?: \(?\d+ ?ms\)?)?$/,
  /^([A-Z]\w*\.(?!java:|kt:)[a-z]\w*):\d+ (.+)$/,
]

type Line = { text: string; role: 'text' | 'title' | 'listed'; says: string }

/** More of a list is not looked at. */
const MAX_LISTED = 50

/** The lines of a text without the progress, banners and counts of test runners. */
export function withoutRunnerNoise(lines: readonly string[]): string[] {
  const read = lines.filter((line) => !isNoise(line)).map(readLine)
  const headings = new Set(read.filter((_, at) => isHeading(read, at)))
  const names = new Set([...headings].map(({ text }) => text.trim()))
  const said = read.filter((line) => line.role === 'text' || headings.has(line))
  const everything = said.map(({ text }) => text).join('\n')
  const seen = new Set<string>()
  let mentions = 0
  const isNew = (line: Line) => {
    const name = line.text.trim()
    if (line.role === 'text') return !names.has(name)
    if (seen.has(name) || (names.has(name) && !headings.has(line))) return false
    seen.add(name)
    if (headings.has(line)) return true
    mentions += 1
    return mentions <= MAX_LISTED && !everything.includes(line.says)
  }
  return read.filter(isNew).map(({ text }) => text)
}

/** A name with something below it; others are part of a list. */
function isHeading(lines: readonly Line[], at: number): boolean {
  if (lines[at]?.role !== 'title') return false
  const below = lines.slice(at + 1, at + 4).find(({ text }) => text.trim() !== '')
  return below?.role === 'text'
}

function isNoise(line: string): boolean {
  const text = line.trim()
  return text !== '' && NOISE.some((pattern) => pattern.test(text))
}

function readLine(line: string): Line {
  const text = line.trim()
  for (const pattern of LISTED) {
    const match = pattern.exec(text)
    if (match) return listedLine(match[1] ?? '', match[2] ?? '')
  }
  for (const [pattern, by] of TITLES) {
    if (!pattern.test(text)) continue
    const indent = line.slice(0, line.length - line.trimStart().length)
    return {
      text: indent + text.replace(pattern, by),
      role: 'title',
      says: text.replace(pattern, by),
    }
  }
  return { text: line, role: 'text', says: '' }
}

/** A list's message is cut to the width of the terminal. */
function listedLine(name: string, message: string): Line {
  // Surefire names the exception without `Exception`.
  const said = message.replace(/^» \S+ ?/, '').replace(/\.{3,}$/, '')
  const says = said || (name.split('::').at(-1) ?? name)
  return { text: message === '' ? name : `${name} - ${message}`, role: 'listed', says }
}
