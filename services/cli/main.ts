import { enableCompileCache } from 'node:module'
import { compileCache } from '../../shared/config.ts'
import { ANSWER_COMMAND } from './completion/answer-command.ts'

// What is loaded after this is compiled once and kept: a start takes two thirds of the time.
enableCompileCache(compileCache(process.env))
const [command, ...args] = process.argv.slice(2)
if (command === ANSWER_COMMAND) {
  // A key was pressed: of the program only what answers it is loaded.
  const { printAskedValues } = await import('./completion/asked-values.ts')
  await printAskedValues(args[0], process.env)
} else {
  const { runProgram } = await import('./run-program.ts')
  await runProgram(process.argv.slice(2))
}
