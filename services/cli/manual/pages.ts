import { lookPages } from './look-pages.ts'
import { memoryPages } from './memory-pages.ts'
import type { Page, Pages } from './page.ts'
import { repairPages } from './repair-pages.ts'
import { servicePages } from './service-pages.ts'
import { setupPages } from './setup-pages.ts'

const program: Page = {
  details: `Repairs failing tests, and remembers each repair that a separate process proved. Before it may edit, it
has searched that memory by the failure. Everything runs on this machine; services are started when a
command needs them. Results go to stdout, progress and notes to stderr.`,
  examples: [
    ['astra init', 'in a project with a failing test'],
    ['astra fix . --offline', 'repair it, without a key'],
    ['astra doctor', 'when something does not work'],
  ],
  json: 'With --json a command prints one JSON document and nothing else on stdout; a fault is `error` with `code`, `message` and `hint`.',
  environment: [
    ['ASTRA_HOME', 'all data; ~/.local/share/astra-codebase-memory where it is not set'],
    ['REDIS_URL', 'the Redis of a fleet, in place of a private one'],
    ['OPENAI_API_KEY', 'for live runs'],
    ['NO_COLOR, FORCE_COLOR', 'no colours, or colours where there is no terminal'],
    ['ASTRA_LOG_LEVEL', 'debug: faults are told with their stack'],
  ],
  files: [
    ['ASTRA_HOME/.env', 'settings; .env.example explains all'],
    ['ASTRA_HOME/logs', 'what services write: `astra logs`'],
    ['WORKSPACE/.astra.json', 'settings of one project: `astra init`'],
  ],
}

/** The manual, by the words of the command; the program's own page has none. */
export const pages: Pages = {
  '': program,
  ...repairPages,
  ...lookPages,
  ...memoryPages,
  ...servicePages,
  ...setupPages,
}
