import { arriveTree } from './blobs/arrive-tree.ts'
import { inMegabytes } from './blobs/blobs.ts'
import { PLATFORM, type PublishedRun } from './blobs/published-run.ts'
import type { RunFiles } from './run-files.ts'

/** Dependency folders of a snapshot that came from elsewhere, where they stand here now. */
export type ArrivedDependencies =
  | { kind: 'here'; folders: string[] }
  | { kind: 'missing'; message: string }

/** Brings dependency folders here, or says which of what the tests use cannot come. */
export async function bringDependencies(
  { home, runId, blobs }: RunFiles,
  { dependencies, platform, outside, workspace }: PublishedRun,
): Promise<ArrivedDependencies> {
  const [beside] = outside
  if (beside !== undefined) {
    const message =
      `the tests use ${beside}, which is not in ${workspace} and so does not travel to other machines: ` +
      'name a folder that holds both, or let a test-runner run on the machine where they are'
    return { kind: 'missing', message }
  }
  const [first] = dependencies
  if (first && platform !== PLATFORM) {
    const message = `${first.target} was installed on ${platform}, and this test-runner is on ${PLATFORM}`
    return { kind: 'missing', message }
  }
  if (!blobs) throw new Error('nothing can have arrived')
  const folders: string[] = []
  for (const { target, tree, bytes, limit } of dependencies) {
    if (!tree) return { kind: 'missing', message: didNotTravel(target, bytes, limit) }
    const what = `${target} of run ${runId}`
    folders.push((await arriveTree(blobs, home, what, tree)).folder)
  }
  return { kind: 'here', folders }
}

function didNotTravel(target: string, bytes: number, limit: number): string {
  return (
    `the tests need ${target}, which stands on the machine of the person who asked and is too large ` +
    `to travel (${inMegabytes(bytes)}, ASTRA_SNAPSHOT_REDIS_MB there is ${inMegabytes(limit)}): set ` +
    'ASTRA_SHARED_DIR on all machines to a folder that they share, or raise that limit'
  )
}
