import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { productRoot } from '../../shared/config.ts'
import { runProgram } from './run-program.ts'

const AS_THEY_ARE = [
  ...['bin', 'demo_projects', 'docs', 'ops/grafana', 'ops/prometheus'],
  ...['README.md', 'CHANGELOG.md', 'LICENSE', '.env.example'],
]
const COMPILED = ['services', 'shared']

/**
 * Everything that is not compiled, at its place in the clone: models, reporters, pages, demo projects.
 * Git says what belongs to the clone, so that nothing else that lies about gets in.
 */
export async function copyFiles(stage: string): Promise<void> {
  const compiled = tracked(COMPILED).filter((file) => !file.endsWith('.ts'))
  for (const file of [...tracked(AS_THEY_ARE), ...compiled]) {
    await cp(join(productRoot, file), join(stage, file))
  }
}

function tracked(paths: readonly string[]): string[] {
  const output = runProgram('git', ['ls-files', '-z', '--', ...paths], productRoot)
  return output.split('\0').filter((file) => file !== '')
}
