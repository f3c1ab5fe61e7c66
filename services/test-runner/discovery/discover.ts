import { type TestCommand, testCommand } from './command-line.ts'
import { javascriptCommands, readPackageJson } from './discover-javascript.ts'
import { pythonCommands } from './discover-python.ts'
import { readWorkspaceConfig } from './workspace-config.ts'
import type { WorkspaceFiles } from './workspace-files.ts'

export type Discovery =
  | { found: true; commands: readonly [TestCommand, ...TestCommand[]] }
  | { found: false; problem: string }

/** The range of Node versions that a workspace allows: `.astra.json`, then `engines.node`. */
export async function nodeRangeOf(files: WorkspaceFiles): Promise<string | null> {
  const config = await readWorkspaceConfig(files.root)
  if ('nodeRange' in config && config.nodeRange !== null) return config.nodeRange
  return (await readPackageJson(files)).engines.node ?? null
}

/**
 * The test commands of a workspace, the one to use by default first. `.astra.json` decides alone
 * when it names a command.
 */
export async function discoverCommands(
  files: WorkspaceFiles,
  hasPytest: () => Promise<boolean>,
): Promise<Discovery> {
  const config = await readWorkspaceConfig(files.root)
  if ('problem' in config) return { found: false, problem: config.problem }
  if (config.command) return { found: true, commands: [config.command] }
  const [first, ...others] = await findCommands(files, hasPytest)
  if (first) return { found: true, commands: [first, ...others] }
  return {
    found: false,
    problem:
      'no tests of pytest, unittest, node --test, vitest, jest, mocha, go test or cargo test were ' +
      'found at the root of the workspace; name their command in .astra.json: {"command": "..."}',
  }
}

/** What the files themselves offer, whatever `.astra.json` says. */
export async function findCommands(
  files: WorkspaceFiles,
  hasPytest: () => Promise<boolean>,
): Promise<TestCommand[]> {
  const found = [
    ...(await javascriptCommands(files)),
    ...(await pythonCommands(files, hasPytest)),
    ...goCommands(files),
    ...(await cargoCommands(files)),
  ]
  return [...new Map(found.map((command) => [command.display, command])).values()]
}

function goCommands({ paths }: WorkspaceFiles): TestCommand[] {
  const hasTests = paths.includes('go.mod') && paths.some((path) => path.endsWith('_test.go'))
  return hasTests ? [testCommand('go')] : []
}

async function cargoCommands(files: WorkspaceFiles): Promise<TestCommand[]> {
  if (!files.paths.includes('Cargo.toml')) return []
  for (const path of files.paths.filter((each) => each.endsWith('.rs'))) {
    if (/#\[(\w+::)?test\]/.test(await files.read(path))) return [testCommand('cargo')]
  }
  return []
}
