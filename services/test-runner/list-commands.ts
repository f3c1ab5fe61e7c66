import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { parseCommandLine, type TestCommand } from './discovery/command-line.ts'
import { findCommands } from './discovery/discover.ts'
import { workspaceFiles } from './discovery/workspace-files.ts'

/**
 * A program of its own, for `astra init`: which test commands the files of a workspace offer, as JSON.
 * Nothing of the workspace is run. It is told the paths at stdin.
 */
const requestSchema = z.object({ root: z.string(), paths: z.array(z.string()) })

const { root, paths } = requestSchema.parse(JSON.parse(await text(process.stdin)))
const files = workspaceFiles(root, paths)
// Where both would do, a run takes the one that is installed: that is for it to see.
const found = [
  ...(await findCommands(files, async () => true)),
  ...(await findCommands(files, async () => false)),
]
const commands = [...new Map(found.map((each) => [each.display, each])).values()]
process.stdout.write(JSON.stringify({ commands: commands.map(offer) }))

/** `exact`: the line means this command, with its variables, also where it stands in `.astra.json`. */
function offer(command: TestCommand): { line: string; exact: boolean } {
  const variables = Object.entries(command.env).map(([name, value]) => `${name}="${value}"`)
  const line = [...variables, command.display].join(' ')
  return { line, exact: isDeepStrictEqual(parseCommandLine(line), command) }
}
