import type { Patch } from '../../../shared/contracts/patch.ts'

const TEST_FOLDERS = new Set([
  'test',
  'tests',
  'spec',
  'specs',
  '__tests__',
  '__mocks__',
  '__fixtures__',
  '__snapshots__',
  'testdata',
])

const TEST_NAMES = [
  /^test_.*\.py$/,
  /_test\.py$/,
  /^tests?\.py$/,
  /_test\.go$/,
  /\.(test|spec)\.\w+$/,
  /[-_](test|spec)\.[mc]?[jt]sx?$/,
  /^test(-.*)?\.[mc]?[jt]sx?$/,
]

/** Configuration of runners and what decides which code they load. */
const CONFIGURATION = [
  /^conftest\.py$/,
  /^(sitecustomize|usercustomize)\.py$/,
  /\.pth$/,
  /^\.?pytest\.(ini|toml)$/,
  /^(pyproject\.toml|setup\.cfg|setup\.py|tox\.ini|noxfile\.py)$/,
  /^(Pipfile|Pipfile\.lock|poetry\.lock|uv\.lock|pdm\.lock|pylock\.toml)$/,
  /^requirements.*\.txt$/,
  /^(vitest|vite|jest|babel)\.(config|workspace|setup)\.\w+$/,
  /^\.(mocharc|babelrc|swcrc)(\.\w+)?$/,
  /^(setupTests|.*\.setup)\.[mc]?[jt]sx?$/,
  /^(package\.json|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml)$/,
  /^(pnpm-workspace\.yaml|bun\.lockb?|\.npmrc|\.yarnrc\.yml|\.pnp\..*)$/,
  /^(go\.mod|go\.sum|go\.work|go\.work\.sum)$/,
  /^(Cargo\.toml|Cargo\.lock|build\.rs|rust-toolchain(\.toml)?)$/,
  /^\.astra\.json$/,
]

/** What Python finds at the root of a workspace instead of the runner's own modules. */
const RUNNER_MODULE = /^(pytest|_pytest|pluggy|unittest)(\.py$|\/)/

const TOOL_FOLDERS = new Set(['node_modules', '.cargo', '.venv', 'venv', 'vendor'])

/** A test, or something that only tests use. */
export function isTestFile(path: string): boolean {
  const parts = path.split('/')
  const name = parts.pop() ?? path
  return parts.some((part) => TEST_FOLDERS.has(part)) || TEST_NAMES.some((test) => test.test(name))
}

export function isConfiguration(path: string): boolean {
  const parts = path.split('/')
  const name = parts.pop() ?? path
  return (
    RUNNER_MODULE.test(path) ||
    parts.some((part) => TOOL_FOLDERS.has(part)) ||
    CONFIGURATION.some((test) => test.test(name))
  )
}

export type ProofPatch = {
  /** What the proof is made with. */
  applied: Patch
  /** Changes to protected files; they are no part of the fix. */
  dropped: string[]
}

/**
 * A patch without what it changes in the tests and their configuration. A test file that it adds
 * is no part of the proof, but it is not dropped: agents often add one. `testFiles` are files that
 * hold tests whatever their names are.
 */
export function proofPatch(patch: Patch, testFiles: ReadonlySet<string>): ProofPatch {
  const isTest = (path: string) => isTestFile(path) || testFiles.has(path)
  const dropped = patch.files.filter(
    (file) => isConfiguration(file.path) || (isTest(file.path) && file.before !== null),
  )
  const applied = patch.files.filter((file) => !isConfiguration(file.path) && !isTest(file.path))
  return { applied: { files: applied }, dropped: dropped.map((file) => file.path) }
}
