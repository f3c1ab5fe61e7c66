import type { Runner } from '../../../shared/contracts/receipt.ts'
import { goToolchain } from './go.ts'
import { nodeToolchain } from './node.ts'
import { pythonToolchain } from './python.ts'
import { rustToolchain } from './rust.ts'
import type { Toolchain, ToolchainRequest } from './toolchain.ts'

const finders: Record<Runner, (request: ToolchainRequest) => Promise<Toolchain>> = {
  pytest: pythonToolchain,
  unittest: pythonToolchain,
  node: nodeToolchain,
  vitest: nodeToolchain,
  jest: nodeToolchain,
  mocha: nodeToolchain,
  go: goToolchain,
  cargo: rustToolchain,
}

/** The programs that a runner needs, as the person has them; what is not there is left out. */
export function findToolchain(runner: Runner, request: ToolchainRequest): Promise<Toolchain> {
  return finders[runner](request)
}
