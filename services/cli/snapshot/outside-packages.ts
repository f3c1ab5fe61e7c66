import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, sep } from 'node:path'
import { z } from 'zod'
import type { Manifest } from '../../../shared/contracts/manifest.ts'
import { sourcesNamedIn } from '../../../shared/installed-sources.ts'

const packageSchema = z.object({
  dependencies: z.record(z.string(), z.unknown()).default({}),
  devDependencies: z.record(z.string(), z.unknown()).default({}),
})

/**
 * Installed packages that a workspace uses and that are no part of it: in a `node_modules` above it, as
 * in a monorepo, where links of its own lead to, or as editable installs. On this machine tests are shown them; to others they
 * do not go along.
 */
export async function outsidePackages({ workspace, links }: Manifest): Promise<string[]> {
  const modules = links.filter(({ target }) => basename(target) === 'node_modules')
  const linked = await Promise.all(modules.map(({ target }) => linkedOutside(workspace, target)))
  const above = await Promise.all(
    (await namedPackages(workspace)).map((name) => foundAbove(workspace, name)),
  )
  const editable = await Promise.all(links.map(({ target }) => importedOutside(workspace, target)))
  const found = [...linked.flat(), ...editable.flat(), ...above.filter((path) => path !== null)]
  return [...new Set(found)].sort()
}

/** Where packages of a `node_modules` really are, as far as that is outside of the workspace. */
async function linkedOutside(workspace: string, modules: string): Promise<string[]> {
  const names = await packageNames(modules)
  const real = await Promise.all(
    names.map((name) => realpath(join(modules, name)).catch(() => null)),
  )
  return real.filter(
    (path) => path !== null && ![workspace, modules].some((place) => isBelow(path, place)),
  ) as string[]
}

/** Folders that a virtual environment imports from, as far as they are outside of it and the workspace. */
async function importedOutside(workspace: string, venv: string): Promise<string[]> {
  const libraries = await readdir(join(venv, 'lib')).catch((): string[] => [])
  const sites = libraries.map((name) => join(venv, 'lib', name, 'site-packages'))
  const named = (await Promise.all(sites.map(sourcesNamedIn))).flat().filter(isAbsolute)
  const outside = named.filter((path) => ![workspace, venv].some((place) => isBelow(path, place)))
  const there = await Promise.all(outside.map((path) => lstat(path).catch(() => null)))
  return outside.filter((_, index) => there[index]?.isDirectory())
}

async function packageNames(modules: string): Promise<string[]> {
  const names = (await readdir(modules).catch((): string[] => [])).filter(
    (name) => !name.startsWith('.'),
  )
  const inner = names.map(async (name) => {
    if (!name.startsWith('@')) return [name]
    const scoped = await readdir(join(modules, name)).catch((): string[] => [])
    return scoped.map((each) => `${name}/${each}`)
  })
  return (await Promise.all(inner)).flat()
}

/** What the workspace itself says that it needs. */
async function namedPackages(workspace: string): Promise<string[]> {
  const text = await readFile(join(workspace, 'package.json'), 'utf8').catch(() => '{}')
  try {
    const parsed = packageSchema.parse(JSON.parse(text))
    return Object.keys({ ...parsed.dependencies, ...parsed.devDependencies })
  } catch {
    // The tests will say what is wrong with it.
    return []
  }
}

/** The `node_modules` above a workspace in which Node finds a package, or null where it is nearer. */
async function foundAbove(workspace: string, name: string): Promise<string | null> {
  for (let folder = workspace; ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules')
    if (await lstat(join(modules, name)).catch(() => null)) {
      return folder === workspace ? null : modules
    }
    if (folder === dirname(folder)) return null
  }
}

const isBelow = (path: string, folder: string) => path === folder || path.startsWith(folder + sep)
