import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/**
 * Format, lint, types and tests: what `npm test` runs. Arguments go to the test runner. Ends with the
 * counts of the test runner's own report, alone on the last line.
 */
const root = resolve(import.meta.dirname, '..')
const bin = join(root, 'node_modules', '.bin')
const report = join(root, 'test-results', 'vitest.json')

function run(title: string, command: string, args: string[]): boolean {
  process.stdout.write(`\n== ${title}\n`)
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (result.error) throw result.error
  return result.status === 0
}

function counts(): { passed: number; failed: number; skipped: number } {
  const { numPassedTests, numFailedTests, numPendingTests, numFailedTestSuites } = JSON.parse(
    readFileSync(report, 'utf8'),
  )
  // A file that could not be loaded has no tests, but it is a failure all the same.
  const failed = Math.max(numFailedTests, numFailedTestSuites > 0 ? 1 : 0)
  return { passed: numPassedTests, failed, skipped: numPendingTests }
}

mkdirSync(dirname(report), { recursive: true })
rmSync(report, { force: true })
const good = [
  run('format and lint', join(bin, 'biome'), ['check', '--error-on-warnings', '.']),
  run('types', join(bin, 'tsc'), ['--noEmit', '-p', '.']),
  run('tests', process.execPath, [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ]),
]
const { passed, failed, skipped } = counts()
if (!good[0] || !good[1]) process.stdout.write('\nformat, lint or types failed: see above\n')
process.stdout.write(
  `\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
)
process.exit(good.every(Boolean) ? 0 : 1)
