import { z } from 'zod'
import { parseCommandLine, type TestCommand, testCommand } from './command-line.ts'
import type { WorkspaceFiles } from './workspace-files.ts'

const names = z.record(z.string(), z.string()).catch({})
const packageSchema = z.object({
  scripts: names.default({}),
  dependencies: names.default({}),
  devDependencies: names.default({}),
  engines: names.default({}),
  jest: z.unknown().optional(),
})
type PackageJson = z.infer<typeof packageSchema>

const CONFIG_FILES = {
  vitest: /^vitest\.(config|workspace)\.\w+$/,
  jest: /^jest\.config\.\w+$/,
  mocha: /^\.mocharc(\.\w+)?$/,
} as const

const TEST_NAME = /(^|\/)([^/]+[._-](test|spec)|test-[^/]+|test)\.[mc]?[jt]s$/
const IN_TEST_FOLDER = /(^|\/)(test|tests|__tests__)\/.*\.[mc]?[jt]s$/

/** package.json, with nothing in it when it is missing or no object. */
export async function readPackageJson(files: WorkspaceFiles): Promise<PackageJson> {
  try {
    return packageSchema.parse(JSON.parse(await files.read('package.json')))
  } catch {
    return packageSchema.parse({})
  }
}

export async function javascriptCommands(files: WorkspaceFiles): Promise<TestCommand[]> {
  const manifest = await readPackageJson(files)
  const scripted = scriptCommands(manifest)
  const installed = (['vitest', 'jest', 'mocha'] as const).filter(
    (runner) =>
      runner in manifest.devDependencies ||
      runner in manifest.dependencies ||
      files.paths.some((path) => CONFIG_FILES[runner].test(path)) ||
      (runner === 'jest' && manifest.jest !== undefined),
  )
  const known = new Set(scripted.map((command) => command.runner))
  const commands = [
    ...scripted,
    ...installed.filter((runner) => !known.has(runner)).map((runner) => testCommand(runner)),
  ]
  if (commands.length > 0) return commands
  return (await hasNodeTests(files)) ? [testCommand('node')] : []
}

/** The commands of `test` and of scripts such as `test:unit`, with the scripts that they call. */
function scriptCommands({ scripts }: PackageJson): TestCommand[] {
  const wanted = Object.keys(scripts).filter((name) => /^(test|tests|unit)([:._-]|$)/.test(name))
  wanted.sort((a, b) => Number(b === 'test') - Number(a === 'test'))
  return wanted.map((name) => scriptCommand(scripts, name, 3)).filter((command) => command !== null)
}

function scriptCommand(
  scripts: Record<string, string>,
  name: string,
  depth: number,
): TestCommand | null {
  const script = scripts[name] ?? ''
  const found = parseCommandLine(script)
  if (found || depth === 0) return found
  const called = /\b(?:npm|pnpm|yarn) (?:run )?([\w:.-]+)/.exec(script)?.[1]
  return called && called !== name ? scriptCommand(scripts, called, depth - 1) : null
}

async function hasNodeTests(files: WorkspaceFiles): Promise<boolean> {
  if (files.paths.some((path) => TEST_NAME.test(path))) return true
  for (const path of files.paths.filter((each) => IN_TEST_FOLDER.test(each))) {
    if (/['"]node:test['"]/.test(await files.read(path))) return true
  }
  return false
}
