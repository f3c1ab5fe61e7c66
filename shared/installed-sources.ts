import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Folders beside it that a `site-packages` imports from: editable installs, in both of their forms. */
export async function sourcesNamedIn(sitePackages: string): Promise<string[]> {
  const names = await readdir(sitePackages).catch((): string[] => [])
  const read = (name: string) => readFile(join(sitePackages, name), 'utf8').catch(() => '')
  const found = names.map(async (name) => {
    if (name.endsWith('.pth')) return (await read(name)).split('\n').map((line) => line.trim())
    if (!/^__editable__.*\.py$/.test(name)) return []
    // A finder names packages, a path file the folders that hold them.
    const packages = [...(await read(name)).matchAll(/'(\/[^'\n]+)'/g)]
    return packages.map((match) => dirname(match[1] ?? ''))
  })
  return (await Promise.all(found)).flat()
}
