/** A line of a stack in JavaScript, the languages of the JVM, C#, or of vitest's drawing. */
const AT_FRAME = /^\s*(?:at |❯ ).*[\w)>](?: \{|,)?$/
/** node --test on a pipe, Ruby, PHP. */
const BARE_FRAME =
  /^\s+(?:async |new )?[\w.<>$[\] ]* ?\(?(?:node:|file:\/\/)[^\s()]*:\d+:\d+\)?$|^\s+(?:new |async )?[\w.]+ \((?:<anonymous>|index \d+)\)$|^\s*# \S+\.rb:\d+:in |^(?:\s+from )?\S+\.rb:\d+:in |^#\d+ \S+\(\d+\): /
const PYTHON_FRAME = /^\s*(?:E\s+)?File "[^"]*"(?:, in .*|, line \d+.*)?$|^\S+\.pyx?:\d+:? in \S+$/

const JVM_LIBRARIES =
  'java|javax|jakarta|jdk|sun|com\\.sun|kotlin|kotlinx|scala|groovy|junit|org\\.(?:junit|opentest4j|hamcrest|assertj|mockito|testng|gradle|apache|springframework|hibernate|codehaus|jetbrains)|com\\.(?:fasterxml|zaxxer|google|intellij)|io\\.netty|reactor|worker\\.org\\.gradle'
const NET_LIBRARIES = 'System|Microsoft|Xunit|NUnit|Npgsql|Newtonsoft'
const FOREIGN = new RegExp(
  [
    'node:internal|node_modules|\\(node:|at node:|^\\s+node:|(?<![\\w.])<anonymous>\\)[ ,{]*$|async Promise\\.all|\\(index \\d+\\)$',
    'site-packages|dist-packages|<frozen |[\\\\/][Ll]ib[\\\\/]python|importlib[\\\\/]__init__\\.py',
    `^\\s*at (?:[\\w.@-]*//?)?(?:${JVM_LIBRARIES})\\.`,
    '\\$\\$SpringCGLIB|<generated>',
    `^\\s*at (?:async )?(?:${NET_LIBRARIES})\\.[^(]*\\(`,
    '/gems/|/lib/ruby/|/vendor/',
  ].join('|'),
)
const ELLIPSIS =
  /^\s*\.\.\. \d+ (?:more|common frames omitted)$|^\s*--- End of stack trace from previous location ---$|^\s*\[Previous line repeated/

export const isPythonFrame = (line: string) => PYTHON_FRAME.test(line)

export const isFrame = (line: string) =>
  AT_FRAME.test(line) || BARE_FRAME.test(line) || isPythonFrame(line)

/** Frames of runtimes, runners and libraries are the same in unlike failures. */
export const isForeignFrame = (line: string) =>
  ELLIPSIS.test(line) || (isFrame(line) && FOREIGN.test(line))
