import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { standsAt } from '../../../shared/workspace.ts'
import { probe } from '../run/programs.ts'
import { withoutSecrets } from '../sandbox/without-secrets.ts'
import { personsPath, personsPrograms } from './persons-programs.ts'
import {
  type Env,
  isBelow,
  isTooWide,
  partsOf,
  presentPlaces,
  realPathOf,
  type ToolchainRequest,
} from './toolchain.ts'
import { type PythonToolchain, readVenv, venvToolchain } from './virtual-environment.ts'

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

const known = new WeakMap<ToolchainRequest, Promise<PythonToolchain>>()

/**
 * The workspace's virtual environment, else the first Python of the person's PATH. Asked once for
 * each test run: a version manager's shim takes its time.
 */
export function pythonToolchain(request: ToolchainRequest): Promise<PythonToolchain> {
  const answer = known.get(request) ?? findPython(request)
  known.set(request, answer)
  return answer
}

async function findPython(request: ToolchainRequest): Promise<PythonToolchain> {
  for (const [index, { target }] of request.manifest.links.entries()) {
    const venv = await readVenv(target, standsAt(request.manifest, index) ?? target)
    if (venv) return venvToolchain(venv, request)
  }
  const path = await personsPath(request)
  for (const program of await personsPrograms('python', request)) {
    const active = await readVenv(dirname(dirname(program)))
    if (active) return venvToolchain(active, request)
    const answer = await answerOf(program, path, request)
    if (answer) return systemToolchain(answer, request)
  }
  return { folders: [], env: {}, places: [], hasPytest: false }
}

type Answer = z.infer<typeof answerSchema>

async function answerOf(
  program: string,
  path: string,
  { base }: ToolchainRequest,
): Promise<Answer | null> {
  const env: Env = { PATH: path, ...(await pyenvVariables(base)) }
  const answer =
    (await probe(program, ['-c', QUESTION], env)) ??
    (await probe(program, ['-c', QUESTION], { PATH: path }))
  return answer ? answerSchema.parse(JSON.parse(answer)) : null
}

async function systemToolchain(
  python: Answer,
  { guarded }: ToolchainRequest,
): Promise<PythonToolchain> {
  const prefixes = [...python.prefixes, ...(await Promise.all(python.prefixes.map(realPathOf)))]
  const packages = python.path.filter((folder) => !prefixes.some((each) => isBelow(folder, each)))
  const tooWide = await Promise.all(prefixes.map((prefix) => isTooWide(prefix, guarded)))
  const bases = prefixes.filter((_, index) => !tooWide[index])
  return {
    folders: [dirname(python.program)],
    // HOME is another one in the tests, and `pip install --user` is looked for below it.
    env: python.userBase === null ? {} : { PYTHONUSERBASE: python.userBase },
    places: await presentPlaces([
      ...bases.flatMap(partsOf),
      ...(await withoutSecrets(packages, guarded)),
    ]),
    hasPytest: python.hasPytest,
  }
}

/** A pyenv shim takes its version from the folder that it runs in, which is none of the workspace's. */
async function pyenvVariables(base: string): Promise<Env> {
  const text = await readFile(join(base, '.python-version'), 'utf8').catch(() => '')
  const version = /^([\w.+-]+)\s*$/m.exec(text)?.[1]
  const root = process.env.PYENV_ROOT
  return {
    ...(version && !version.includes('..') ? { PYENV_VERSION: version } : {}),
    ...(root ? { PYENV_ROOT: root } : {}),
  }
}
