import type { FoundCommand } from './found-commands.ts'

/** What `.astra.json` says where nothing but the test command is settled. */
export function settingsTemplate(found: readonly FoundCommand[]): string {
  const [only, ...others] = found
  const active = only?.exact && others.length === 0
  const command = `"command": ${JSON.stringify(only?.line ?? 'pytest -q')},`
  return `// How astra tests this project. Every setting is optional. Comments and trailing commas may stay.
{
  // The test command, as you type it: pytest, python -m unittest, node --test, vitest, jest, mocha,
  // go test or cargo test, with their options, without pipes or redirection. It decides alone.
  // ${foundText(found)}
  ${active ? command : `// ${command}`}

  // Files that git ignores and the tests need: globs, relative to this folder. Secrets stay out.
  // "include": ["fixtures/generated/**"],

  // The Node versions that may run the tests, before "engines" of package.json.
  // "node": ">=22.18",
}
`
}

function foundText(found: readonly FoundCommand[]): string {
  // A script of package.json may hold what ends a comment.
  const lines = found.map(({ line }) => JSON.stringify(line)).join(', ')
  if (found.length === 0) return 'None was found here: name it.'
  if (found.length === 1) return `Found here: ${lines}`
  return `Found here: ${lines}. Without this setting the first that is installed is used.`
}
