import type { Pages } from './page.ts'

export const setupPages: Pages = {
  init: {
    details: `Looks at the files as a run would, and runs none of them. The file may keep its comments and trailing
commas. A file that is there stays as it is without --force.`,
    examples: [
      ['astra init', 'in the folder where you stand'],
      ['astra init ./app --force', 'in the place of one that is there'],
    ],
    json: '`file`, and `commands`: the test commands that were found.',
    files: [['WORKSPACE/.astra.json', 'settings of one project']],
  },
  completion: {
    details: `Put the line of your shell into its start file. Ids of runs, memories and keys are completed as they
are at that moment, without starting anything.`,
    examples: [
      ['eval "$(astra completion bash)"', 'in ~/.bashrc'],
      ['eval "$(astra completion zsh)"', 'in ~/.zshrc, after compinit'],
      ['astra completion fish > ~/.config/fish/completions/astra.fish', 'once, and after upgrades'],
    ],
  },
  demo: {
    details:
      'Needs no key: the model is the local stand-in. Data and services are its own, and go afterwards.',
    examples: [
      ['astra demo', 'three sessions, the second one with the memory of the first'],
      ['astra demo --keep --language python', 'for the dashboard to show'],
      ['astra demo --json demo.json', 'write what was recorded to a file'],
    ],
    json: 'To the file that is named: `sessions` and `checks`. People read the rest, as it happens.',
    exit: [['1', 'something of it did not hold, or failed']],
  },
  experiment: {
    examples: [
      ['astra experiment --sessions 5', 'with the stand-in'],
      ['astra experiment --sessions 2 --approve-live-cost --json e.json', 'with Astra'],
    ],
    json: 'To the file that is named: `rounds`, one for each recall mode, with their sessions.',
    exit: [['1', 'a session did not end as fixed, or something failed']],
  },
  help: {
    examples: [
      ['astra help fix', 'the manual of one command'],
      ['astra help memory list', 'or of a command below another'],
    ],
  },
}
