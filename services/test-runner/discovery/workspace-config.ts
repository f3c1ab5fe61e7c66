import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { validRange } from 'semver'
import { z } from 'zod'
import { parseJsonc } from '../../../shared/jsonc.ts'
import { parseCommandLine, type TestCommand } from './command-line.ts'

const FILE = '.astra.json'

const configSchema = z.strictObject({
  /** The test command, as a person types it. */
  command: z.string().trim().min(1).optional(),
  /** Files that git ignores and tests need; the snapshot takes them along. */
  include: z.array(z.string().min(1)).optional(),
  /** A range of Node versions, before `engines.node` of package.json. */
  node: z
    .string()
    .refine((range) => validRange(range) !== null, 'must be a range of versions such as ">=22.18"')
    .optional(),
})

export type WorkspaceConfig = { command: TestCommand | null; nodeRange: string | null }

/** `.astra.json` of a workspace, or what is wrong with it. */
export async function readWorkspaceConfig(
  workspace: string,
): Promise<WorkspaceConfig | { problem: string }> {
  const text = await readFile(join(workspace, FILE), 'utf8').catch(() => null)
  if (text === null) return { command: null, nodeRange: null }
  const json = parseJsonc(text)
  if ('problem' in json) return { problem: `${FILE} is not JSON: ${json.problem}` }
  const parsed = configSchema.safeParse(json.value)
  if (!parsed.success) return { problem: `${FILE}: ${z.prettifyError(parsed.error)}` }
  const { command, node } = parsed.data
  const found = command === undefined ? null : parseCommandLine(command)
  if (command !== undefined && !found) {
    return {
      problem:
        `${FILE}: command ${JSON.stringify(command)} is none that can be run: it must start with ` +
        'pytest, python -m pytest, python -m unittest, node --test, vitest, jest, mocha, go test ' +
        'or cargo test, without pipes, variables or redirection',
    }
  }
  return { command: found, nodeRange: node ?? null }
}
