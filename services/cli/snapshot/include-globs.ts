import picomatch from 'picomatch'
import { z } from 'zod'
import { UsageError } from '../../../shared/errors.ts'
import { globMatcher, globProblem } from '../../../shared/glob.ts'
import { parseJsonc } from '../../../shared/jsonc.ts'
import { readSettingsFile } from './settings-file.ts'

/** Which ignored files a workspace's tests need all the same, as its `.astra.json` says. */
export type IncludeGlobs = {
  matches(path: string): boolean
  /** Whether something below this ignored folder could match. */
  reaches(folder: string): boolean
}

const FILE = '.astra.json'
// The test-runner reads the other fields.
const settingsSchema = z.looseObject({ include: z.array(z.string().min(1)).default([]) })

/** Throws UsageError when `.astra.json` cannot be read as what it should be. */
export async function readIncludeGlobs(workspace: string): Promise<IncludeGlobs> {
  const globs = (await readSettings(workspace)).include.map((glob) => glob.replace(/\/+$/, ''))
  const bad = globs.find((glob) => glob.startsWith('/') || glob.split('/').includes('..'))
  if (bad !== undefined) {
    throw new UsageError(`${FILE}: include "${bad}" leaves the workspace`, {
      hint: 'globs are relative to the workspace',
    })
  }
  for (const glob of globs) {
    const problem = globProblem(glob)
    if (problem) throw new UsageError(`${FILE}: include "${glob}" ${problem}`)
  }
  // A glob that names a folder brings what is below it.
  const matches = globMatcher([...globs, ...globs.map((glob) => `${glob}/**`)], { dot: true })
  const bases = globs.map((glob) => picomatch.scan(glob).base)
  return {
    matches: (path) => globs.length > 0 && matches(path),
    reaches: (folder) =>
      bases.some((base) => base === '' || isWithin(base, folder) || isWithin(folder, base)),
  }
}

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

async function readSettings(workspace: string): Promise<z.infer<typeof settingsSchema>> {
  const text = (await readSettingsFile(workspace, FILE)) ?? '{}'
  const json = parseJsonc(text)
  if ('problem' in json) throw new UsageError(`${FILE} is not JSON: ${json.problem}`)
  const parsed = settingsSchema.safeParse(json.value)
  if (parsed.success) return parsed.data
  throw new UsageError(`${FILE} does not fit: ${z.prettifyError(parsed.error)}`, {
    hint: '"include" is a list of globs, such as ["generated/**"]',
  })
}
