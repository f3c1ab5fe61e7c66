import { basename } from 'node:path'
import type { Redis } from 'ioredis'
import { printedLine } from '../parts/printed-text.ts'
import { readRunViews } from '../runs/read-run-views.ts'

/** What tells a run apart for people, who do not know it by its id. */
export type RunTopic = {
  /** The name of its workspace. */
  place: string
  /** The first test that failed, once that is known. */
  symptom: string | null
}
export type RunTopics = ReadonlyMap<string, RunTopic>

/** By run; of one that is not kept any more nothing. */
export async function readRunTopics(redis: Redis, ids: string[]): Promise<RunTopics> {
  const { views } = await readRunViews(redis, ids)
  return new Map(
    views.map(({ run_id, workspace, verification }) => {
      const [first] = verification?.failing_before ?? []
      const symptom = first === undefined ? null : printedLine(first, 90)
      return [run_id, { place: printedLine(basename(workspace), 24), symptom }]
    }),
  )
}
