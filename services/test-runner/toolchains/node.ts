import { basename, dirname, join } from 'node:path'
import { satisfies } from 'semver'
import { z } from 'zod'
import { findPrograms, probe } from '../run/programs.ts'
import { personsPath, personsPrograms } from './persons-programs.ts'
import {
  exists,
  isSystemPath,
  isTooWide,
  partsOf,
  presentPlaces,
  type Toolchain,
  type ToolchainRequest,
} from './toolchain.ts'

const answerSchema = z.tuple([z.string(), z.string()])
type Node = { version: string; program: string }

/**
 * The person's Node, unless the workspace excludes it and allows ours. A version manager's shim is
 * asked for the program behind it.
 */
export async function nodeToolchain(request: ToolchainRequest): Promise<Toolchain> {
  const theirs = await firstAnswering(
    await personsPrograms('node', request),
    await personsPath(request),
  )
  const ours = { version: process.version, program: process.execPath }
  const { nodeRange: range } = request
  const isAllowed = (node: Node | null) =>
    node !== null && (range === null || satisfies(node.version, range))
  const node = !isAllowed(theirs) && range !== null && isAllowed(ours) ? ours : theirs
  if (!node) return { folders: [], env: {}, places: [] }
  const places = await placesOf(node.program, request.guarded)
  return { folders: [dirname(node.program)], env: {}, places }
}

/** The first Node on a PATH, or null. */
export async function nodeOn(path: string): Promise<Node | null> {
  return firstAnswering(await findPrograms('node', path), path)
}

/** A version manager's shim that has no version for the root folder does not answer. */
async function firstAnswering(programs: readonly string[], path: string): Promise<Node | null> {
  const question = 'JSON.stringify([process.version, process.execPath])'
  for (const program of programs) {
    const answer = await probe(program, ['-p', question], { PATH: path })
    if (!answer) continue
    const [version, real] = answerSchema.parse(JSON.parse(answer))
    return { version, program: real }
  }
  return null
}

/** The whole installation when the program stands in one, else the program alone. */
async function placesOf(program: string, guarded: readonly string[]): Promise<string[]> {
  if (isSystemPath(program)) return []
  const prefix = dirname(dirname(program))
  const isInstallation =
    basename(dirname(program)) === 'bin' &&
    !(await isTooWide(prefix, guarded)) &&
    ((await exists(join(prefix, 'lib', 'node_modules'))) ||
      (await exists(join(prefix, 'include', 'node'))))
  return isInstallation ? presentPlaces(partsOf(prefix)) : [program]
}
