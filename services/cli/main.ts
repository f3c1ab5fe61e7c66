import { enableCompileCache } from 'node:module'
import { compileCache } from '../../shared/config.ts'

// What is loaded after this is compiled once and kept: a start takes two thirds of the time.
enableCompileCache(compileCache(process.env))
const { runProgram } = await import('./run-program.ts')
await runProgram(process.argv.slice(2))
