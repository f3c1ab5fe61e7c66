import { chmod, copyFile, mkdir, readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { reporters } from './folders.ts'
import type { Mount } from './sandbox.ts'

/**
 * Our reporters, copied into a test run's own folder: an installation that was made under a strict
 * umask keeps its files from the uid of the tests.
 */
export async function reportersMount(root: string, target: string): Promise<Mount> {
  const source = join(root, 'reporters')
  await mkdir(source, { recursive: true })
  await chmod(source, 0o755)
  // Modules of the test-runner itself lie there too: `.ts` in a clone, `.js` in the package.
  const ours = extname(import.meta.filename)
  const names = (await readdir(reporters)).filter((name) => extname(name) !== ours)
  for (const name of names) {
    const copy = join(source, name)
    await copyFile(join(reporters, name), copy)
    await chmod(copy, 0o644)
  }
  return { source, target }
}
