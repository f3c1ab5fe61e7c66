import type { UnusableTests } from '../../../shared/contracts/tests.ts'
import { unusable } from '../run/unusable.ts'
import { pythonToolchain } from '../toolchains/python.ts'
import type { ToolchainRequest } from '../toolchains/toolchain.ts'
import type { TestCommand } from './command-line.ts'
import { discoverCommands } from './discover.ts'
import type { WorkspaceFiles } from './workspace-files.ts'

export type ChosenCommand = { kind: 'chosen'; command: TestCommand; commands: string[] }

/** The command that was asked for, or the first of the workspace (`null`). */
export async function chooseCommand(
  display: string | null,
  base: WorkspaceFiles,
  request: ToolchainRequest,
): Promise<ChosenCommand | UnusableTests> {
  const found = await discoverCommands(base, async () => (await pythonToolchain(request)).hasPytest)
  if (!found.found) return unusable('no_tests_found', found.problem)
  const [first] = found.commands
  const commands = found.commands.map((each) => each.display)
  const command = found.commands.find((each) => each.display === (display ?? first.display))
  if (command) return { kind: 'chosen', command, commands }
  const offered = commands.join(', ')
  return unusable('no_tests_found', `no test command ${display}; there is: ${offered}`)
}
