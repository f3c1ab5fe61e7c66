import { readdir, readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative } from 'node:path'

/**
 * The source folders of the copy that a virtual environment has as editable installs. Without them
 * on PYTHONPATH the tests would import the person's own files instead of the copy's.
 */
export async function editableSources(
  venv: string,
  workspace: string,
  copy: string,
): Promise<string[]> {
  const versions = await readdir(join(venv, 'lib')).catch(() => [])
  const folders = versions.map((version) => join(venv, 'lib', version, 'site-packages'))
  const sources = (await Promise.all(folders.map(sourcesNamedIn))).flat()
  const inside = sources
    .filter(isAbsolute)
    .map((source) => relative(workspace, source))
    .filter((path) => !path.startsWith('..'))
  return [...new Set(inside.map((path) => join(copy, path)))]
}

async function sourcesNamedIn(sitePackages: string): Promise<string[]> {
  const names = await readdir(sitePackages).catch(() => [])
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
