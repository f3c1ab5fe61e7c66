import { chmod, mkdir, mkdtemp, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * A folder with one mount point for each source, named by its number. Root mounts them there in a
 * namespace of its own, where another uid can pass: the mounts are never seen outside.
 */
export async function makeStage(root: string, sources: readonly string[]): Promise<string> {
  const stage = await mkdtemp(join(root, 'stage-'))
  // Whatever our umask is.
  await chmod(stage, 0o755)
  const points = sources.map(async (source, index) => {
    const point = join(stage, `${index}`)
    if ((await stat(source)).isDirectory()) await mkdir(point)
    else await writeFile(point, '')
  })
  await Promise.all(points)
  return stage
}
