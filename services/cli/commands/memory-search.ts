import type { Command } from 'commander'
import type { SearchResult } from '../../../shared/contracts/memory.ts'
import { errorText, UsageError } from '../../../shared/errors.ts'
import { secretsOf } from '../../../shared/scrub/known-secrets.ts'
import { createScrubber } from '../../../shared/scrub/scrubber.ts'
import { normaliseSymptom } from '../../../shared/symptom.ts'
import { askMemory } from '../ask-memory.ts'
import { type AskingWorkspace, askingWorkspace } from '../asking-workspace.ts'
import type { CliContext } from '../context.ts'
import { printMatches } from '../format/format-memory.ts'
import type { Terminal } from '../format/terminal.ts'
import { wholeNumber } from '../run-options.ts'
import { type MemoryOptions, withMemory } from '../with-memory.ts'

type SearchOptions = MemoryOptions & { errorType?: string; topK: number; repository?: string }

const helpText = `
It is asked as a run in this folder would ask: where the memory is not shared, only fixes of its
repository are found, and a fix of this repository whose place in the code is gone is marked stale.`

export function addSearchCommand(memory: Command, context: CliContext): void {
  memory
    .command('search <text>')
    .description('search by the text of a failure, as Astra does')
    .option('--error-type <name>', 'only fixes of this error type')
    .option('--top-k <n>', 'how many at most', wholeNumber(1, 10), 3)
    .option('--repository <id>', 'as a run of this repository would, not as one of this folder')
    .option('--json', 'print the matches as JSON')
    .addHelpText('after', helpText)
    .action((text: string, options: SearchOptions) => search(context, text, options))
}

async function search(context: CliContext, text: string, options: SearchOptions): Promise<void> {
  const config = context.config()
  const scrub = createScrubber(secretsOf(config))
  const query = (await scrub(text.trim())).text
  if (query === '' || query.length > 20_000) {
    throw new UsageError('the text to search by must have 1 to 20,000 characters')
  }
  const here = await askingWorkspace(context.path('.'), config.home)
  const repositoryId = options.repository ?? here?.repositoryId
  const question = {
    query,
    error_type: options.errorType ? (await scrub(options.errorType)).text : null,
    top_k: options.topK,
    repository_id: repositoryId,
  }
  await withMemory(context, options, async (producer, terminal) => {
    // What is stored is normalised too; a text of nothing but paths and numbers stays as it is.
    const texts = [normaliseSymptom(query) || query]
    const found = await askMemory(producer, 'search', question, texts)
    const isHere = here !== null && here.repositoryId === repositoryId
    const result = isHere ? await marked(here, found, terminal) : found
    terminal.printJson(result)
    const isLimited = config.ASTRA_MEMORY_SHARING === 'repository'
    printMatches(terminal, result, isLimited ? repositoryId : undefined)
  })
}

/** A mark that cannot be made is no reason to hold back an answer. */
async function marked(
  here: AskingWorkspace,
  result: SearchResult,
  { note }: Terminal,
): Promise<SearchResult> {
  try {
    return await here.markStale(result)
  } catch (error) {
    note(`matches were not compared with the files of this folder: ${errorText(error)}`)
    return result
  }
}
