import { access, readdir } from 'node:fs/promises'
import { dirname, isAbsolute, join, normalize, relative, sep } from 'node:path'
import { sourcesNamedIn } from '../../../shared/installed-sources.ts'

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

/**
 * Folders beside the workspace that a virtual environment imports from, as far as they belong to a
 * Python project: its files may name any folder.
 */
export async function outsideSources(
  sites: readonly string[],
  inside: readonly string[],
): Promise<string[]> {
  const named = (await Promise.all(sites.map(sourcesNamedIn))).flat().filter(isAbsolute)
  const outside = named
    .map((path) => normalize(path))
    .filter((path) => inside.every((folder) => isAway(relative(folder, path))))
  const known = await Promise.all(outside.map(isOfProject))
  return [...new Set(outside.filter((_, index) => known[index]))]
}

const isAway = (path: string) => path === '..' || path.startsWith(`..${sep}`)

/** The root of a project, or the folder of its sources. */
async function isOfProject(folder: string): Promise<boolean> {
  const files = [folder, dirname(folder)].flatMap((place) =>
    ['pyproject.toml', 'setup.py', 'setup.cfg'].map((name) => join(place, name)),
  )
  const found = files.map((file) =>
    access(file).then(
      () => true,
      () => false,
    ),
  )
  return (await Promise.all(found)).includes(true)
}
