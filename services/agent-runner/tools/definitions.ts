import type { FunctionTool } from 'openai/resources/responses/responses'
import type { ToolName } from './arguments.ts'

const object = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

const string = (description: string) => ({ type: 'string', description })

function tool(
  name: ToolName,
  description: string,
  properties: Record<string, unknown>,
): FunctionTool {
  return { type: 'function', name, description, strict: true, parameters: object(properties) }
}

/** The tools as they are declared to the model. `commands`: the test commands of this workspace. */
export function toolDefinitions(commands: string[]): FunctionTool[] {
  return [
    {
      ...tool(
        'search_codebase_memory',
        'Search fixes that were confirmed in earlier sessions, by the failure symptoms you observed. ' +
          'Runs in the background: the result arrives later under this call. An empty result is a result.',
        {
          query: string(
            'The observed failure: error messages, failing assertions, names. No guesses.',
          ),
          error_type: {
            type: ['string', 'null'],
            description: 'Error class to filter by, or null.',
          },
          top_k: { type: 'integer', minimum: 1, maximum: 10 },
          task_handle: string(
            'A name of your choice, unique in this conversation, for wait_for_tasks.',
          ),
        },
      ),
      async: true,
    },
    tool('wait_for_tasks', 'Wait until the background tasks with these handles have delivered.', {
      task_handles: { type: 'array', items: { type: 'string' } },
    }),
    tool(
      'store_fix_memory',
      'Store the fix after run_tests returned a confirmed_outcome and nothing was edited since.',
      {
        fix_description: string(
          'What was wrong and what was changed, for a reader of another project.',
        ),
        error_type: string('The error class that the failing tests showed.'),
        file_paths: { type: 'array', items: { type: 'string' }, description: 'The files changed.' },
        outcome: string('The confirmed_outcome of the latest run_tests, word for word.'),
      },
    ),
    tool('list_project_files', 'List the files of the project.', {}),
    tool('read_file', 'Read one text file of the project.', {
      path: string('Relative to the root of the project.'),
    }),
    tool('search_project_files', 'Find lines that contain a text, in all files of the project.', {
      query: string('Literal text; case matters.'),
      max_results: { type: 'integer', minimum: 1, maximum: 50 },
    }),
    tool('apply_edit', 'Replace the one occurrence of old_text in a file by new_text.', {
      path: string('Relative to the root of the project.'),
      old_text: string('Must occur exactly once, with its indentation.'),
      new_text: string('What stands there afterwards.'),
    }),
    tool('run_tests', 'Run the tests on a copy of the project as it is now.', {
      command: { type: 'string', enum: commands },
    }),
  ]
}
