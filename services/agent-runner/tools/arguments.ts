import { z } from 'zod'
import { fixClaimSchema } from '../../../shared/contracts/record.ts'

const path = z.string().min(1).max(500)

export const searchArgumentsSchema = z.strictObject({
  query: z.string().trim().min(1, 'query must hold the observed symptoms').max(20_000),
  error_type: z.string().trim().min(1).max(200).nullable(),
  top_k: z.number().int().min(1).max(10),
  task_handle: z.string().min(1).max(200),
})
export const waitForTasksSchema = z.strictObject({
  task_handles: z.array(z.string().max(200)).max(50),
})
export const editArgumentsSchema = z.strictObject({
  path,
  old_text: z.string().min(1, 'old_text must not be empty'),
  new_text: z.string(),
})

/** The arguments of each tool, as they are checked here: a server need not have enforced `strict`. */
export const toolArguments = {
  search_codebase_memory: searchArgumentsSchema,
  wait_for_tasks: waitForTasksSchema,
  store_fix_memory: fixClaimSchema,
  list_project_files: z.strictObject({}),
  read_file: z.strictObject({ path }),
  search_project_files: z.strictObject({
    query: z.string().min(1).max(1000),
    max_results: z.number().int().min(1).max(50),
  }),
  apply_edit: editArgumentsSchema,
  run_tests: z.strictObject({ command: z.string() }),
} as const

export type ToolName = keyof typeof toolArguments

/** A call that can be carried out, or what is wrong with it, in words that the model can act on. */
export type ParsedCall =
  | { [N in ToolName]: { ok: true; name: N; args: z.infer<(typeof toolArguments)[N]> } }[ToolName]
  | { ok: false; code: 'unknown_tool' | 'invalid_arguments'; message: string }

export function parseCall(call: { name: string; arguments: string }): ParsedCall {
  if (!Object.hasOwn(toolArguments, call.name)) {
    const known = Object.keys(toolArguments).join(', ')
    return {
      ok: false,
      code: 'unknown_tool',
      message: `There is no tool ${call.name}. Tools: ${known}.`,
    }
  }
  const name = call.name as ToolName
  let value: unknown
  try {
    value = JSON.parse(call.arguments || '{}')
  } catch {
    return { ok: false, code: 'invalid_arguments', message: 'The arguments are not valid JSON.' }
  }
  const parsed = toolArguments[name].safeParse(value)
  if (!parsed.success) {
    return { ok: false, code: 'invalid_arguments', message: z.prettifyError(parsed.error) }
  }
  return { ok: true, name, args: parsed.data } as ParsedCall
}
