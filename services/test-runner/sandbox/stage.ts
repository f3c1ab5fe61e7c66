import { chmod, mkdir, mkdtemp, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { isBelow } from '../toolchains/toolchain.ts'

/** A folder that every uid can reach. What is in it on this machine is not needed by then. */
export const STAGED_AT = '/tmp'

/** What root mounts at `STAGED_AT` for another uid, in a namespace that is seen by no one else. */
export type Stage = {
  /** A test run's own folder: mounted as a whole. */
  root: string
  /** What lies elsewhere, each with a mount point in that folder. */
  outside: { source: string; point: string }[]
}

/** Readies a test run's folder for another uid, which has to reach all sources. */
export async function makeStage(root: string, sources: readonly string[]): Promise<Stage> {
  // To pass to what is its own; names cannot be listed.
  await chmod(root, 0o711)
  const inside = sources.filter((source) => isBelow(source, root))
  for (const folder of new Set(inside.flatMap((source) => foldersBetween(root, source)))) {
    await chmod(folder, 0o711)
  }
  const elsewhere = sources.filter((source) => !isBelow(source, root))
  if (elsewhere.length === 0) return { root, outside: [] }
  const points = await mkdtemp(join(root, 'stage-'))
  await chmod(points, 0o711)
  const outside = elsewhere.map(async (source, index) => {
    const point = join(points, `${index}`)
    if ((await stat(source)).isDirectory()) await mkdir(point)
    else await writeFile(point, '')
    return { source, point }
  })
  return { root, outside: await Promise.all(outside) }
}

/** Where a source is found once the stage is mounted. */
export function stagedAt({ root, outside }: Stage, source: string): string {
  const path = outside.find((each) => each.source === source)?.point ?? source
  return join(STAGED_AT, relative(root, path))
}

function foldersBetween(root: string, path: string): string[] {
  const parent = dirname(path)
  return parent === root ? [] : [...foldersBetween(root, parent), parent]
}
