// A reporter for node --test, in JavaScript that Node 20 and later run: one JSON line for each
// test, with its file and suites, which the JUnit report of Node 20 lacks.
import { isAbsolute, resolve } from 'node:path'

const absolute = (path) => (isAbsolute(path) ? path : resolve(path))

// biome-ignore lint/style/noDefaultExport: node --test takes a reporter by its default export.
export default async function* report(source) {
  const names = []
  const stderr = new Map()
  for await (const { type, data } of source) {
    if (type === 'test:start') names[data.nesting] = data.name
    if (type === 'test:stderr' && data.file) {
      const file = absolute(data.file)
      stderr.set(file, ((stderr.get(file) ?? '') + data.message).slice(-8000))
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue
    yield `${JSON.stringify(entry(type, data, names, stderr))}\n`
  }
  yield `${JSON.stringify({ end: true })}\n`
}

function entry(type, data, names, stderr) {
  const file = data.file ? absolute(data.file) : ''
  // A file that reports no test of its own stands in the stream under its own path.
  const isFile = data.nesting === 0 && file !== '' && absolute(data.name) === file
  const error = data.details?.error
  return {
    file,
    suites: names.slice(0, data.nesting),
    name: data.name,
    isFile,
    isSuite: data.details?.type === 'suite',
    passed: type === 'test:pass',
    skipped: isMarked(data.skip) || isMarked(data.todo) || isMarked(data.expectFailure),
    failureType: error?.failureType ?? null,
    message: SAYS_NOTHING.has(error?.failureType)
      ? ''
      : (isFile && type === 'test:fail' && stderr.get(file)) || textOf(error),
  }
}

// The failure stands in another entry.
const SAYS_NOTHING = new Set(['subtestsFailed', 'cancelledByParent'])

const isMarked = (value) => value !== undefined && value !== false

function textOf(error) {
  const cause = error?.cause ?? error
  if (cause === undefined || cause === null) return ''
  if (typeof cause !== 'object') return String(cause)
  const text = typeof cause.stack === 'string' ? cause.stack : String(cause.message ?? cause)
  return text.slice(0, 8000)
}
