import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { z } from 'zod'
import { programFile } from '../../../shared/program-file.ts'

const run = promisify(execFile)
/** It reads some files and runs none. */
const ANSWER_MS = 30_000

const answerSchema = z.object({
  commands: z.array(z.object({ line: z.string(), exact: z.boolean() })),
})
/** `exact`: the line can stand in `.astra.json` and means what a run would find. */
export type FoundCommand = z.infer<typeof answerSchema>['commands'][number]

/** The test-runner knows; a process of its own asks it, as services do not import each other. */
export async function foundCommands(
  root: string,
  paths: readonly string[],
): Promise<FoundCommand[]> {
  const asking = run(process.execPath, [programFile('services/test-runner/list-commands')], {
    timeout: ANSWER_MS,
  })
  asking.child.stdin?.end(JSON.stringify({ root, paths }))
  const { stdout } = await asking
  return answerSchema.parse(JSON.parse(stdout)).commands
}
