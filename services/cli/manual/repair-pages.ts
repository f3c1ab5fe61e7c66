import { exitCodes } from '../../../shared/contracts/run.ts'
import type { Page, Pages } from './page.ts'

/** How a run ended is the exit code of the commands that wait for it. */
export const runExit: NonNullable<Page['exit']> = Object.entries(exitCodes).map(
  ([status, code]) => [String(code), status],
)

const runJson =
  'The run: `run_id`, `status`, `reason`, `message`, `mode`, `model`, `requests`, `tokens`, `cost_usd`,\n' +
  '`recall` (what the memory answered), `verification` (commands, tests, receipt), `stored_memory_id`,\n' +
  '`patch`, and `applied` with `not_applied_because`.'

export const repairPages: Pages = {
  fix: {
    details: `Takes a snapshot of the workspace, repairs the copy, proves the patch on fresh copies, and applies
it only when it was proved and only if the workspace is still as it was. What happens meanwhile goes
to stderr, the result to stdout. Without --offline Astra is asked, which needs OPENAI_API_KEY and
--approve-live-cost; it never falls back to the stand-in.`,
    examples: [
      ['astra fix ./app --offline', 'repair with the local stand-in, without a key'],
      ['astra fix ./app --approve-live-cost --budget 0.50', 'ask Astra, for 50 cents at most'],
      ['astra fix . --offline --no-apply --json > run.json', 'leave the workspace as it is'],
      ['astra fix . --offline --command "pytest -q"', 'with one of several test commands'],
    ],
    json: runJson,
    exit: runExit,
    environment: [
      ['OPENAI_API_KEY', 'for live runs; without it they are refused'],
      ['ASTRA_MODEL', 'which model is asked'],
      ['ASTRA_RUN_BUDGET_USD', 'what a run may cost where --budget does not say'],
    ],
    files: [
      ['WORKSPACE/.astra.json', 'the test command and what belongs to the snapshot: `astra init`'],
      ['ASTRA_HOME/runs/RUN', 'snapshot, patch and transcript of the run'],
    ],
  },
  enqueue: {
    details: `The same as fix, without waiting: it prints the id of the run. The run goes on while services are
up, and nothing is applied until \`astra apply RUN\`.`,
    examples: [
      ['astra enqueue ./app --offline', 'ask for a repair and return'],
      ['astra enqueue ./app --approve-live-cost --priority low', 'when nothing else waits'],
    ],
    json: '`run_id`, and `status`: `queued`.',
  },
  apply: {
    details: `Applies the patch as a whole or not at all: a file that is no longer as it was in the snapshot is
named, and nothing is written.`,
    examples: [
      ['astra apply run-one', 'into the workspace of the run'],
      ['astra apply run-one ../other-clone', 'into another copy of the project'],
    ],
    json: '`run_id`, `workspace`, `applied`, and `changed_besides`: files that are not those of the proof.',
  },
  verify: {
    details: `No model is asked and no key is needed. The tests are run on fresh copies, without the patch and with
it, and must fail before and pass after, with the test files as they are without it. The workspace and
the run stay as they are. The workspace has to be as it was before the patch, line by line.`,
    examples: [
      ['astra verify run-one', 'prove the patch of a run again'],
      [
        'git diff main > /tmp/fix.patch && git checkout main && astra verify --patch /tmp/fix.patch .',
        'prove a patch of your own',
      ],
      ['git diff main | astra verify --patch - ../main --receipt receipt.json', 'in CI'],
    ],
    json: 'The verification: `confirmed`, the command, the tests, and `receipt`, or why it is not proved.',
    exit: [
      ['0', 'proved; the receipt says by what'],
      ['2', 'wrong usage or configuration, or the patch does not fit; nothing was run'],
      ['3', 'not proved; reason and message say why'],
    ],
  },
  cancel: {
    details:
      'Tests are ended at once; a request that is with the model is not cut off, and is paid.',
    examples: [['astra cancel run-one', 'end a run']],
    json: '`run_id`, `status`, `reason`, and `ended_before`: it had ended already.',
  },
}
