import { type TestCommand, testCommand } from './command-line.ts'
import type { WorkspaceFiles } from './workspace-files.ts'

const TEST_FILE = /(^|\/)(test_[^/]*|[^/]*_test|tests?)\.py$/
/** More than enough to tell one runner from the other. */
const FILES_READ = 200

const PYTEST_FILES = /(^|\/)(conftest\.py|\.?pytest\.ini)$/
const PYTEST_SETTINGS: Record<string, RegExp> = {
  'pyproject.toml': /^\[tool\.pytest|["']pytest\b/m,
  'setup.cfg': /^\[tool:pytest\]/m,
  'tox.ini': /^\[pytest\]/m,
  'requirements.txt': /^pytest\b/m,
  'requirements-dev.txt': /^pytest\b/m,
}

export async function pythonCommands(
  files: WorkspaceFiles,
  hasPytest: () => Promise<boolean>,
): Promise<TestCommand[]> {
  const paths = files.paths.filter((path) => TEST_FILE.test(path))
  if (paths.length === 0) return []
  const texts = await Promise.all(paths.slice(0, FILES_READ).map((path) => files.read(path)))
  const isPytest = texts.some(usesPytest) || (await hasPytestSettings(files))
  const isUnittest = texts.some((text) => /\bTestCase\b/.test(text))
  const usable = isPytest && (!isUnittest || (await hasPytest()))
  if (usable) return [testCommand('pytest')]
  return isUnittest ? [testCommand('unittest', discoveryArguments(files, paths))] : []
}

function usesPytest(text: string): boolean {
  return /^\s*(import|from) pytest\b/m.test(text) || /^(async )?def test_/m.test(text)
}

async function hasPytestSettings(files: WorkspaceFiles): Promise<boolean> {
  if (files.paths.some((path) => PYTEST_FILES.test(path))) return true
  for (const [path, pattern] of Object.entries(PYTEST_SETTINGS)) {
    if (files.paths.includes(path) && pattern.test(await files.read(path))) return true
  }
  return false
}

/** unittest does not look into a folder without `__init__.py` unless it is told to. */
function discoveryArguments(files: WorkspaceFiles, paths: readonly string[]): string[] {
  const folders = new Set(paths.map((path) => path.split('/').slice(0, -1).join('/')))
  const [only] = folders
  const single = folders.size === 1 && only ? only : null
  if (single === null || files.paths.includes(`${single}/__init__.py`)) return []
  return ['discover', '-s', single]
}
