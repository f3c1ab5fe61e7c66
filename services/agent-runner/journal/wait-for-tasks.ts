import { searchArgumentsSchema, waitForTasksSchema } from '../tools/arguments.ts'
import { allCalls, hasOutput, type PlacedCall } from './conversation.ts'
import { callKey, type Journal } from './journal.ts'

export type TaskStatus = {
  task_handle: string
  status: 'completed' | 'failed' | 'unknown' | 'open'
}

/**
 * Where each handle of a `wait_for_tasks` call stands. A handle that no search bears is unknown and
 * holds nothing up; one that several searches bear is open until all of them are there.
 */
export function taskStatuses(journal: Journal, wait: PlacedCall): TaskStatus[] {
  const parsed = waitForTasksSchema.safeParse(parseJson(wait.arguments))
  if (!parsed.success) return []
  return parsed.data.task_handles.map((task_handle) => {
    const calls = allCalls(journal).filter(
      (call) => call.request <= wait.request && handleOf(call) === task_handle,
    )
    return { task_handle, status: statusOf(journal, calls) }
  })
}

/** The call waits for nothing any more: its status can be sent. */
export function isWaitOver(journal: Journal, wait: PlacedCall): boolean {
  return taskStatuses(journal, wait).every((task) => task.status !== 'open')
}

function statusOf(journal: Journal, calls: PlacedCall[]): TaskStatus['status'] {
  if (calls.length === 0) return 'unknown'
  if (!calls.every((call) => hasOutput(journal, call))) return 'open'
  const failed = calls.some((call) => journal.inbox.get(callKey(call.call_id))?.ok === false)
  return failed ? 'failed' : 'completed'
}

function handleOf(call: PlacedCall): string | null {
  if (call.name !== 'search_codebase_memory') return null
  const parsed = searchArgumentsSchema.safeParse(parseJson(call.arguments))
  return parsed.success ? parsed.data.task_handle : null
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
