import type { Manifest } from '../../../shared/contracts/manifest.ts'
import { globMatcher, globProblem } from '../../../shared/glob.ts'
import type { TestCommand } from './command-line.ts'

/** Shells expand what npm scripts leave unquoted, and Node 20 expands nothing. */
export function expandGlobs({ runner, args }: TestCommand, manifest: Manifest): string[] {
  if (runner !== 'node' && runner !== 'pytest') return args
  const paths = manifest.files.map((file) => file.path)
  return args.flatMap((arg) => {
    if (arg.startsWith('-') || !/[*?{]/.test(arg) || globProblem(arg)) return [arg]
    const matches = globMatcher([arg.replace(/^\.\//, '')], { dot: false })
    const matching = paths.filter((path) => matches(path))
    return matching.length > 0 ? matching : [arg]
  })
}
