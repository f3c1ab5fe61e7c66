import { readdir, readFile, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { findProgram, probe } from '../programs.ts'
import {
  type Env,
  exists,
  isBelow,
  isSystemPath,
  isTooWide,
  type Toolchain,
  type ToolchainRequest,
  withoutWorkspace,
} from './toolchain.ts'

const QUESTION = `
import importlib.util, json, site, sys
print(json.dumps({
    "program": sys.executable,
    "prefixes": [sys.prefix, sys.base_prefix],
    "path": [p for p in sys.path if p],
    "userBase": site.getuserbase() if site.ENABLE_USER_SITE else None,
    "hasPytest": importlib.util.find_spec("pytest") is not None,
}))`
const answerSchema = z.object({
  program: z.string(),
  prefixes: z.array(z.string()),
  path: z.array(z.string()),
  userBase: z.string().nullable(),
  hasPytest: z.boolean(),
})

export type PythonToolchain = Toolchain & { hasPytest: boolean }

/**
 * The workspace's virtual environment, else the first Python of the person's PATH. Files of a
 * virtual environment are read and never run here: a repository may bring one.
 */
export async function pythonToolchain(request: ToolchainRequest): Promise<PythonToolchain> {
  const venv = await venvOf(request)
  return venv ? venvToolchain(venv, request) : systemToolchain(request)
}

type Venv = { path: string; home: string; seesSystem: boolean }

async function venvOf({ manifest }: ToolchainRequest): Promise<Venv | null> {
  for (const link of manifest.links) {
    const text = await readFile(join(link.target, 'pyvenv.cfg'), 'utf8').catch(() => '')
    const setting = (name: string) =>
      new RegExp(`^${name}\\s*=\\s*(.+?)\\s*$`, 'm').exec(text)?.[1] ?? null
    const home = setting('home')
    if (home === null) continue
    const seesSystem = setting('include-system-site-packages') === 'true'
    return { path: link.target, home, seesSystem }
  }
  return null
}

async function venvToolchain(venv: Venv, { guarded }: ToolchainRequest): Promise<PythonToolchain> {
  const prefix = dirname(venv.home)
  const isPython = isSystemPath(prefix) || (await isPythonPrefix(prefix, guarded))
  const bases = isPython ? [prefix, await realpath(prefix)] : []
  const userSites = venv.seesSystem ? await userSitePackages() : []
  const sites = [
    ...(await sitePackages(venv.path)),
    ...(venv.seesSystem ? (await Promise.all(bases.map(sitePackages))).flat() : []),
    ...userSites,
  ]
  const found = await Promise.all(sites.map((site) => exists(join(site, 'pytest'))))
  const env: Env = { VIRTUAL_ENV: venv.path }
  if (userSites.length > 0) env.PYTHONUSERBASE = join(homedir(), '.local')
  return {
    folders: [join(venv.path, 'bin')],
    env,
    places: [...new Set([...bases, ...userSites])].filter((place) => !isSystemPath(place)),
    hasPytest: found.includes(true),
  }
}

/** pyvenv.cfg may name any folder: only what is laid out as a Python installation is believed. */
async function isPythonPrefix(prefix: string, guarded: readonly string[]): Promise<boolean> {
  if (isTooWide(prefix, guarded)) return false
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

async function systemToolchain(request: ToolchainRequest): Promise<PythonToolchain> {
  const path = withoutWorkspace(request)
  const program = await findProgram('python', path)
  const env: Env = { PATH: path, ...(await pyenvVariables(request.base)) }
  const answer =
    program &&
    ((await probe(program, ['-c', QUESTION], env)) ??
      (await probe(program, ['-c', QUESTION], { PATH: path })))
  if (!answer) return { folders: [], env: {}, places: [], hasPytest: false }
  const python = answerSchema.parse(JSON.parse(answer))
  const known = [...python.prefixes, ...(await Promise.all(python.prefixes.map(realPathOf)))]
  const packages = python.path.filter((folder) => !known.some((each) => isBelow(folder, each)))
  const wanted = [...known, ...packages].filter(
    (place) => !isSystemPath(place) && !isTooWide(place, request.guarded),
  )
  const present = await Promise.all(wanted.map(exists))
  return {
    folders: [dirname(python.program)],
    // HOME is another one in the tests, and `pip install --user` is looked for below it.
    env: python.userBase === null ? {} : { PYTHONUSERBASE: python.userBase },
    places: [...new Set(wanted.filter((_, index) => present[index]))],
    hasPytest: python.hasPytest,
  }
}

const realPathOf = (path: string) => realpath(path).catch(() => path)

/** A pyenv shim takes its version from the folder that it runs in, which is none of the workspace's. */
async function pyenvVariables(base: string): Promise<Env> {
  const text = await readFile(join(base, '.python-version'), 'utf8').catch(() => '')
  const version = /^([\w.+-]+)\s*$/.exec(text)?.[1]
  const root = process.env.PYENV_ROOT
  return {
    ...(version && !version.includes('..') ? { PYENV_VERSION: version } : {}),
    ...(root ? { PYENV_ROOT: root } : {}),
  }
}
