import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A folder of a test's own, to build toolchains and the surroundings of a workspace in. */
export async function openFolder() {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'astra-toolchains-')))
  const at = (...path: string[]) => join(root, ...path)
  return {
    root,
    at,
    async write(path: string, text: string): Promise<string> {
      await mkdir(dirname(at(path)), { recursive: true })
      await writeFile(at(path), text)
      return at(path)
    },
    async program(path: string, script: string): Promise<string> {
      const file = await this.write(path, `#!/bin/sh\n${script}\n`)
      await chmod(file, 0o755)
      return file
    },
    remove: () => rm(root, { recursive: true, force: true }),
  }
}

export type Folder = Awaited<ReturnType<typeof openFolder>>
