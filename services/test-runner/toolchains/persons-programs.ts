import { findPrograms } from '../run/programs.ts'
import { isBelow, realPathOf, type ToolchainRequest } from './toolchain.ts'

type Asked = Pick<ToolchainRequest, 'pathEnv' | 'manifest'>

/** PATH without the folders of a workspace: what a repository brings is never run outside a sandbox. */
export async function personsPath({ pathEnv, manifest }: Asked): Promise<string> {
  const workspace = await realPathOf(manifest.workspace)
  const folders = pathEnv.split(':').filter((folder) => folder.startsWith('/'))
  const real = await Promise.all(folders.map(realPathOf))
  const isOutside = (folder: string, index: number) =>
    !isBelow(folder, manifest.workspace) && !isBelow(real[index] ?? folder, workspace)
  return folders.filter(isOutside).join(':')
}

/** All programs of a name on the person's PATH, in its order. None is, or leads to, a workspace's. */
export async function personsPrograms(name: string, request: Asked): Promise<string[]> {
  const workspace = await realPathOf(request.manifest.workspace)
  const programs = await findPrograms(name, await personsPath(request))
  const real = await Promise.all(programs.map(realPathOf))
  return programs.filter((_, index) => !isBelow(real[index] ?? '', workspace))
}
