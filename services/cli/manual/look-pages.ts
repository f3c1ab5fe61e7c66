import type { Pages } from './page.ts'
import { runExit } from './repair-pages.ts'

export const lookPages: Pages = {
  status: {
    examples: [
      ['astra status run-one', 'what came out, what it cost, and the patch'],
      ['astra status run-one --json | jq -r .patch', 'the patch alone'],
    ],
    json: 'The run, as `astra fix --json` prints it.',
  },
  watch: {
    details: 'Tells what happens on stderr, and the run on stdout when it has ended.',
    examples: [['astra watch run-one', 'follow a run that was begun elsewhere']],
    json: 'The run, as `astra fix --json` prints it.',
    exit: runExit,
  },
  runs: {
    examples: [
      ['astra runs', 'the newest twenty'],
      ['astra runs --limit 500 --json', 'more of them, for a program'],
    ],
    json: '`runs`: a list of runs as `astra fix --json` prints them, without whether they were applied.',
  },
  cost: {
    details: `Settled is what requests cost; sent is held for requests whose end is not known yet; held for those
that are about to leave. All three count against a budget. Runs are kept for 90 days, days for 400.`,
    examples: [
      ['astra cost', 'the last seven days'],
      ['astra cost --days 30 --json', 'a month, in millionths of a dollar'],
      ['astra cost --run run-one', 'each attempt of one run'],
    ],
    json: '`at`, `days`, `run`, and `live` and `notional`: project, today, days, models and runs, in millionths of a dollar.',
    environment: [
      ['ASTRA_RUN_BUDGET_USD', 'limit of a run'],
      ['ASTRA_DAY_BUDGET_USD', 'limit of a UTC day'],
      ['ASTRA_PROJECT_BUDGET_USD', 'limit of all runs of this Redis'],
    ],
  },
  dashboard: {
    details: `Listens on this machine alone unless ASTRA_DASHBOARD_HOST says otherwise. The printed link logs you in
once; after that the token in ASTRA_HOME/dashboard/token does.`,
    examples: [
      ['astra dashboard', 'at http://127.0.0.1:8377'],
      ['astra dashboard --port 0 --json', 'at any free port, told as JSON'],
    ],
    json: '`url`, `login` (a link that works once, or null) and `token_file`, when it listens.',
    environment: [
      ['ASTRA_DASHBOARD_HOST', 'where it listens'],
      ['ASTRA_DASHBOARD_PORT', 'at which port'],
    ],
    files: [['ASTRA_HOME/dashboard/token', 'what logs in and reads /metrics']],
  },
  logs: {
    details: `Reads the files in ASTRA_HOME/logs and needs no services. What is no line of a logger is shown as a
warning, at the time of the line before it. A log of more than 10 MB is put aside, as NAME.log.1, in the place of the one before.`,
    examples: [
      ['astra logs', 'the last 200 lines of all services'],
      ['astra logs test-runner --follow', 'one service, as it goes on'],
      ['astra logs --since 10m --level warn --verbose', 'what went wrong lately, with stacks'],
      ['astra logs --run run-one --json', 'the lines of one run, for a program'],
    ],
    json:
      '`logs` (the folder) and `lines`, each with `time`, `process`, `level`, `message`, `run_id`, `error` and\n' +
      '`fields`; with --follow one such line after the other, each a document on a line of its own.',
    environment: [['ASTRA_LOG_LEVEL', 'what services write at all; counts when they start']],
    files: [['ASTRA_HOME/logs/NAME.log', 'one for each process, in JSON lines']],
  },
}
