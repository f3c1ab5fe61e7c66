import { spawnSync } from 'node:child_process'

const LIMIT_MS = 300_000
const OUTPUT_BYTES = 64_000_000

/** What the program printed. Throws with all that it said when it fails. */
export function runProgram(command: string, args: readonly string[], cwd: string): string {
  const result = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: LIMIT_MS,
    maxBuffer: OUTPUT_BYTES,
  })
  if (result.error) throw new Error(`cannot run ${command}: ${result.error.message}`)
  if (result.status === 0) return result.stdout
  throw new Error(`${command} ${args.join(' ')} failed:\n${result.stdout}${result.stderr}`)
}
