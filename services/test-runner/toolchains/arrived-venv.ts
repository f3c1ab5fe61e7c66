import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type PlacedManifest, standsAt } from '../../../shared/workspace.ts'
import { exists, realPathOf } from './toolchain.ts'
import { readVenv } from './virtual-environment.ts'

/**
 * Why a virtual environment that came from another machine has no interpreter here, or null. Without
 * it another Python would run the tests, and miss what is installed.
 */
export async function arrivedVenvProblem(manifest: PlacedManifest): Promise<string | null> {
  if (!manifest.arrived) return null
  for (const [index, { target }] of manifest.links.entries()) {
    const place = standsAt(manifest, index)
    const venv = place && (await readVenv(place))
    if (!venv) continue
    const python = join(place, 'bin', 'python')
    if (!(await exists(python))) return noPython(target, `in ${venv.home}`)
    const version = /^python(3\.\d+)$/.exec(basename(await realPathOf(python)))?.[1]
    const libraries = await readdir(join(place, 'lib')).catch((): string[] => [])
    const isOther = version !== undefined && !libraries.includes(`python${version}`)
    if (isOther) return noPython(target, `of another version than ${version}`)
  }
  return null
}

const noPython = (target: string, which: string) =>
  `${target} came from another machine and needs a Python ${which}, which this machine lacks: ` +
  'interpreters do not travel, so install the same one at the same path on all test-runners'
