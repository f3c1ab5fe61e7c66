import { Argument, type Command } from 'commander'
import { bashScript } from '../completion/bash-script.ts'
import { fishScript } from '../completion/fish-script.ts'
import { type CommandShape, shapeOf } from '../completion/program-shape.ts'
import { zshScript } from '../completion/zsh-script.ts'

const scripts: Record<string, (program: CommandShape) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script that makes a shell complete commands, options and values')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(scripts)))
    .action((shell: string) => {
      process.stdout.write(scripts[shell]?.(shapeOf(program)) ?? '')
    })
}
