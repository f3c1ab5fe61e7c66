import type { Command } from 'commander'
import type { SearchResult } from '../../../shared/contracts/memory.ts'
import { errorText } from '../../../shared/errors.ts'
import { memoryQuestion } from '../../../shared/memory-question.ts'
import { askMemory } from '../../../shared/queue/ask-memory.ts'
import { secretsOf } from '../../../shared/scrub/known-secrets.ts'
import { createScrubber } from '../../../shared/scrub/scrubber.ts'
import { type AskingWorkspace, askingWorkspace } from '../asking-workspace.ts'
import type { CliContext } from '../context.ts'
import { printMatches } from '../format/format-memory.ts'
import type { Terminal } from '../format/terminal.ts'
import { wholeNumber } from '../run-options.ts'
import { type MemoryOptions, withMemory } from '../with-memory.ts'

type SearchOptions = MemoryOptions & { errorType?: string; topK: number; repository?: string }

export function addSearchCommand(memory: Command, context: CliContext): void {
  memory
    .command('search <text>')
    .description('search by the text of a failure, as Astra does')
    .option('--error-type <name>', 'only fixes of this error type')
    .option('--top-k <n>', 'how many at most', wholeNumber(1, 10), 3)
    .option('--repository <id>', 'as a run of this repository would, not as one of this folder')
    .option('--json', 'print the matches as JSON')
    .action((text: string, options: SearchOptions) => search(context, text, options))
}

async function search(context: CliContext, text: string, options: SearchOptions): Promise<void> {
  const config = context.config()
  const scrub = createScrubber(secretsOf(config))
  const here = await askingWorkspace(context.path('.'), config.home)
  const repositoryId = options.repository ?? here?.repositoryId
  const { errorType = null, topK } = options
  const { payload, texts } = await memoryQuestion({ text, errorType, topK, repositoryId }, scrub)
  await withMemory(context, options, async (producer, terminal) => {
    const found = await askMemory(producer, 'search', payload, { texts })
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
