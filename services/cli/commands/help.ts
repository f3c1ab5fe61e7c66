import type { Command } from 'commander'

export function addHelpCommand(program: Command): void {
  program
    .command('help')
    .description('show what a command does, with examples')
    .argument('[command...]', 'such as `fix` or `memory list`')
    .action((words: string[]) => help(program, words))
}

function help(program: Command, words: readonly string[]): void {
  let command = program
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word)
    // Commander's own message names what is near.
    if (!next) {
      command.parse([word], { from: 'user' })
      return
    }
    command = next
  }
  command.outputHelp()
}
