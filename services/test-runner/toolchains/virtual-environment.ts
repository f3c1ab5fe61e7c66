import { readdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { outsideSources } from '../run/python-sources.ts'
import { withoutSecrets } from '../sandbox/without-secrets.ts'
import {
  type Env,
  exists,
  isBelow,
  isSystemPath,
  isTooWide,
  partsOf,
  presentPlaces,
  realPathOf,
  type Toolchain,
  type ToolchainRequest,
} from './toolchain.ts'

export type PythonToolchain = Toolchain & { hasPytest: boolean }

type Venv = {
  path: string
  /** Where it is on this machine; its own path, unless it came from another one. */
  place: string
  home: string
  seesSystem: boolean
}

/** What a folder says of itself as a virtual environment, or null when it is none. */
export async function readVenv(path: string, place = path): Promise<Venv | null> {
  const text = await readFile(join(place, 'pyvenv.cfg'), 'utf8').catch(() => '')
  const setting = (name: string) =>
    new RegExp(`^${name}\\s*=\\s*(.+?)\\s*$`, 'm').exec(text)?.[1] ?? null
  const home = setting('home')
  const seesSystem = setting('include-system-site-packages') === 'true'
  return home === null ? null : { path, place, home, seesSystem }
}

/** By the files of a virtual environment alone: a repository may bring one, so none of it is run. */
export async function venvToolchain(
  venv: Venv,
  { guarded, manifest }: ToolchainRequest,
): Promise<PythonToolchain> {
  const { workspace } = manifest
  const prefix = dirname(venv.home)
  const isPython = isSystemPath(prefix) || (await isPythonPrefix(prefix, guarded, workspace))
  const bases = isPython ? [prefix, await realPathOf(prefix)] : []
  const userSites = venv.seesSystem ? await userSitePackages() : []
  const own = await sitePackages(venv.place)
  const inherited = venv.seesSystem ? (await Promise.all(bases.map(sitePackages))).flat() : []
  const sites = [...own, ...inherited, ...userSites]
  const found = await Promise.all(sites.map((site) => exists(join(site, 'pytest'))))
  const env: Env = { VIRTUAL_ENV: venv.path }
  if (userSites.length > 0) env.PYTHONUSERBASE = join(homedir(), '.local')
  const isHere = manifest.arrived === undefined
  // What it names beside itself is on the machine that it came from.
  const sources = isHere ? await outsideSources(own, [workspace, venv.path]) : []
  return {
    folders: [join(venv.path, 'bin')],
    env,
    places: await presentPlaces([
      ...(isHere && !isBelow(venv.path, workspace) ? [venv.path] : []),
      ...bases.flatMap(partsOf),
      ...userSites,
      ...(await withoutSecrets(sources, guarded)),
    ]),
    hasPytest: found.includes(true),
  }
}

/** pyvenv.cfg may name any folder: only what is laid out as a Python installation is believed. */
async function isPythonPrefix(
  prefix: string,
  guarded: readonly string[],
  workspace: string,
): Promise<boolean> {
  // A part of the workspace would cover the copy's own, with what the snapshot left out.
  if (isBelow(await realPathOf(prefix), await realPathOf(workspace))) return false
  if (await isTooWide(prefix, guarded)) return false
  const libraries = await readdir(join(prefix, 'lib')).catch(() => [])
  const versions = libraries.filter((name) => /^python3\.\d+$/.test(name))
  const sound = versions.map((name) => exists(join(prefix, 'lib', name, 'os.py')))
  return (await Promise.all(sound)).includes(true)
}

async function sitePackages(prefix: string): Promise<string[]> {
  const libraries = [join(prefix, 'lib'), join(prefix, 'local', 'lib')]
  const found = libraries.map(async (library) => {
    const names = (await readdir(library).catch(() => [])).filter((name) => /^python3/.test(name))
    return names.flatMap((name) =>
      ['site-packages', 'dist-packages'].map((packages) => join(library, name, packages)),
    )
  })
  return (await Promise.all(found)).flat()
}

async function userSitePackages(): Promise<string[]> {
  const sites = await sitePackages(join(homedir(), '.local'))
  const present = await Promise.all(sites.map(exists))
  return sites.filter((_, index) => present[index])
}
