import type { History } from './history.ts'
import { languageOf } from './source.ts'
import { overlap, wordsOf } from './words.ts'

const testPath =
  /(?:^|\/)(?:tests?|__tests__|spec|e2e)\/|(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.py$|[.-](?:test|spec)\.[cm]?[jt]sx?$|(?:^|\/)(?:test|spec)\.[cm]?[jt]sx?$/
const configPath =
  /(?:^|\/)(?:[^/]*\.config\.[cm]?[jt]s|setup\.py|noxfile\.py|gulpfile\.js|\.[^/]+|node_modules|dist|build|vendor|venv)(?:\/|$)/

export const isTestFile = (path: string) => testPath.test(path) && languageOf(path) !== null

/** A file that the program may edit: source in a language it knows, neither test nor configuration. */
export const isEditable = (path: string) =>
  languageOf(path) !== null && !testPath.test(path) && !configPath.test(path)

/** A place in a file that the failure's output names. */
export type Frame = { path: string; line: number }

/** Frames of the project's own files, as the output of node, pytest and others prints them. */
export function framesIn(output: string, files: readonly string[]): Frame[] {
  const found = output.matchAll(/([\w@./-]+\.(?:py|[cm]?[jt]sx?))(?:"?, line |:|\()(\d+)/g)
  return [...found].flatMap((match) => {
    const named = match[1] ?? ''
    const path = files.find((file) => named === file || named.endsWith(`/${file}`))
    return path === undefined ? [] : [{ path, line: Number(match[2]) }]
  })
}

/** Paths of listed files that `text` of the file `from` imports. */
export function importsIn(from: string, text: string, files: readonly string[]): string[] {
  const script = [...text.matchAll(/(?:from|import|require\()\s*['"](\.[^'"]+)['"]/g)].map(
    (match) => join(from, match[1] ?? ''),
  )
  const python = [
    ...text.matchAll(/^\s*(?:from\s+([\w.]+)\s+import\s+([^\n(]+|\([^)]*\))|import\s+([\w.]+))/gm),
  ]
  const modules = python.flatMap((match) => {
    const base = (match[1] ?? match[3] ?? '').replace(/^\.+/, '').replaceAll('.', '/')
    const names = (match[2] ?? '').match(/\w+/g) ?? []
    return [base, ...names.map((name) => (base === '' ? name : `${base}/${name}`))]
  })
  return files.filter((file) => {
    const bare = file.replace(/\.[cm]?[jt]sx?$|\.py$/, '').replace(/\/(?:index|__init__)$/, '')
    const byPath = script.some(
      (path) => path === file || path.replace(/\.[cm]?[jt]sx?$/, '') === bare,
    )
    return byPath || modules.some((module) => module !== '' && `/${bare}`.endsWith(`/${module}`))
  })
}

/** `from`'s folder and a relative path, resolved. */
function join(from: string, relative: string): string {
  const parts = from.split('/').slice(0, -1)
  for (const part of relative.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.') parts.push(part)
  }
  return parts.join('/')
}

const FIRST_SOURCES = 10
const MORE_SOURCES = 6
const TEST_FILES = 2
/** More would leave too few calls for tries. */
const MOST_FILES = 24

/** The next files to read, most telling first; none when enough was read. */
export function filesToRead(history: History, wantMore: boolean): string[] {
  const files = history.files ?? []
  const read = history.contents
  if (read.size >= MOST_FILES || (read.size > 0 && !wantMore && !hasUnreadImports(history)))
    return []
  const sources = rankedFiles(history).filter((path) => isEditable(path) && !read.has(path))
  const tests = read.size > 0 ? [] : testFilesOf(history, files)
  return [...sources.slice(0, read.size === 0 ? FIRST_SOURCES : MORE_SOURCES), ...tests]
}

/** The tests that were read name their subjects: those must be read before the first edit. */
function hasUnreadImports(history: History): boolean {
  if (history.tried.length > 0 || history.trial !== null) return false
  const files = history.files ?? []
  return [...history.contents].some(
    ([path, text]) =>
      isTestFile(path) &&
      importsIn(path, text ?? '', files).some(
        (file) => isEditable(file) && !history.contents.has(file),
      ),
  )
}

function testFilesOf(history: History, files: readonly string[]): string[] {
  const { failing, output } = history.request.failure
  const named = `${(failing ?? []).join('\n')}\n${output}`
  const words = wordsOf(named)
  const score = (path: string) =>
    (named.includes(path) ? 2 : named.includes(path.split('/').at(-1) ?? path) ? 1 : 0) +
    overlap(wordsOf(path), words)
  return files
    .filter(isTestFile)
    .map((path) => ({ path, score: score(path) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, TEST_FILES)
    .map(({ path }) => path)
}

/** How much each file has to do with the failure, 0 to 1, by path. */
export function fileRelevance(history: History): Map<string, number> {
  const files = history.files ?? []
  const { failing, output } = history.request.failure
  const words = wordsOf(`${(failing ?? []).join(' ')} ${output}`)
  const framed = new Set(framesIn(output, files).map((frame) => frame.path))
  const imported = importDistances(history, files)
  const remembered = history.retrieved.flatMap((fix) => fix.files.map(baseName))
  return new Map(
    files.map((path) => {
      const distance = imported.get(path)
      const near = distance === undefined ? 0.35 : Math.max(0.5, 1 - 0.1 * distance)
      const named = 0.3 * overlap(wordsOf(baseName(path)), words)
      const known = remembered.includes(baseName(path)) ? 0.05 : 0
      return [path, Math.min(1, (framed.has(path) ? 1 : near) + named + known)]
    }),
  )
}

function rankedFiles(history: History): string[] {
  const relevance = fileRelevance(history)
  return [...relevance].sort((a, b) => b[1] - a[1]).map(([path]) => path)
}

/** How many imports lie between a test that was read and a file. */
function importDistances(history: History, files: readonly string[]): Map<string, number> {
  const distances = new Map<string, number>()
  let wave = [...history.contents.keys()].filter(isTestFile)
  for (let distance = 0; wave.length > 0; distance += 1) {
    const next = new Set(
      wave.flatMap((path) => importsIn(path, history.contents.get(path) ?? '', files)),
    )
    wave = [...next].filter((path) => isEditable(path) && !distances.has(path))
    for (const path of wave) distances.set(path, distance)
  }
  return distances
}

const baseName = (path: string) => path.split('/').at(-1) ?? path
