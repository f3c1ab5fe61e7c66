import { spawnSync } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Folder, openFolder } from '../support/real-folders.ts'
import { hasPytest, hasPython, isInstalled, makeRun, pathEnv } from '../support/test-runner.ts'

const hasSystemPython = isInstalled('/usr/bin/python3', '--version')
const hasVenv = hasPython && isInstalled('python3', '-c', 'import venv')

let folder: Folder

beforeEach(async () => {
  folder = await openFolder()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await folder.remove()
})

type Options = { path?: string; links?: { path: string; target: string }[] }

/** The output of a baseline whose only test fails after the given statements. */
async function outputOf(
  statements: readonly string[],
  contents: Record<string, string> = {},
  options: Options = {},
): Promise<string> {
  const body = ['import os, sys', ...statements, "self.fail('looked')"]
  const test = [
    'import unittest',
    'class T(unittest.TestCase):',
    '    def test_a(self):',
    ...body.map((line) => `        ${line}`),
  ].join('\n')
  const tested = await makeRun(
    { ...contents, 'test_a.py': test },
    { ...options, workspace: folder.at('shop') },
  )
  try {
    const result = await tested.baseline()
    if (result.kind !== 'red') throw new Error(JSON.stringify(result))
    expect(result.output).toContain('looked')
    return result.output
  } finally {
    await tested.remove()
  }
}

/** Makes a virtual environment and says where its packages are. */
async function makeVenv(path: string, ...options: string[]): Promise<string> {
  const args = ['-m', 'venv', '--without-pip', ...options, folder.at(path)]
  const made = spawnSync('python3', args, { env: { ...process.env, PATH: pathEnv } })
  if (made.status !== 0) throw new Error(String(made.stderr))
  const [version] = await readdir(folder.at(path, 'lib'))
  return join(path, 'lib', version ?? '', 'site-packages')
}

const inWorkspace = () => [{ path: '.venv', target: folder.at('shop/.venv') }]
const says = (expression: string) => `print('said', ${expression})`
const saysWhetherThere = (path: string) => says(`'${path}', os.path.exists('${path}')`)

describe.skipIf(!hasVenv)("the workspace's virtual environment", () => {
  it('runs the tests, with its packages', async () => {
    const site = await makeVenv('shop/.venv')
    await folder.write(join(site, 'left.py'), "NAME = 'left-1'")
    const output = await outputOf(
      ['import left', says('left.NAME, sys.prefix')],
      {},
      {
        links: inWorkspace(),
      },
    )
    expect(output).toContain('said left-1 .venv')
  })

  it("imports the copy's sources of an editable install by a path file", async () => {
    const site = await makeVenv('shop/.venv')
    await folder.write(join(site, '__editable__.shop.pth'), folder.at('shop/src'))
    await folder.write('shop/src/shop.py', "NAME = 'the person’s'")
    const contents = { 'src/shop.py': "NAME = 'of the copy'" }
    const links = inWorkspace()
    const output = await outputOf(['import shop', says('shop.NAME')], contents, { links })
    expect(output).toContain('said of the copy')
  })

  it("imports the copy's sources of an editable install by a finder", async () => {
    const site = await makeVenv('shop/.venv')
    const finder = [
      'import sys',
      'from importlib.util import spec_from_file_location as spec',
      `MAPPING = {'shop': '${folder.at('shop/lib/shop')}'}`,
      'class Finder:',
      '    @classmethod',
      '    def find_spec(cls, name, path=None, target=None):',
      "        return spec(name, MAPPING[name] + '/__init__.py') if name in MAPPING else None",
      'def install(): sys.meta_path.append(Finder)',
    ]
    await folder.write(join(site, '__editable___shop_finder.py'), finder.join('\n'))
    const path = 'import __editable___shop_finder; __editable___shop_finder.install()'
    await folder.write(join(site, '__editable__.shop.pth'), path)
    await folder.write('shop/lib/shop/__init__.py', "NAME = 'the person’s'")
    const contents = { 'lib/shop/__init__.py': "NAME = 'of the copy'" }
    const links = inWorkspace()
    const output = await outputOf(['import shop', says('shop.NAME')], contents, { links })
    expect(output).toContain('said of the copy')
  })

  it('has the neighbours that are installed editable, without their secrets', async () => {
    const site = await makeVenv('shop/.venv')
    await folder.write('lib/pyproject.toml', '')
    await folder.write('lib/near.py', "NAME = 'near-1'")
    const secret = await folder.write('lib/.env', 'TOKEN=secret')
    const key = await folder.write('person/.ssh/id_ed25519', 'secret')
    const named = [folder.at('lib'), folder.at('person/.ssh')].join('\n')
    await folder.write(join(site, 'near.pth'), named)
    const looks = ['import near', says('near.NAME'), ...[secret, key].map(saysWhetherThere)]
    const output = await outputOf(looks, {}, { links: inWorkspace() })
    expect(output).toContain('said near-1')
    for (const path of [secret, key]) expect(output).toContain(`said ${path} False`)
  })

  it.skipIf(!hasPytest)('has pytest of its Python when it sees the packages there', async () => {
    await makeVenv('shop/.venv', '--system-site-packages')
    const contents = { 'test_b.py': 'def test_b(): assert False\n' }
    const links = inWorkspace()
    const tested = await makeRun(contents, { workspace: folder.at('shop'), links })
    try {
      expect(await tested.baseline()).toMatchObject({ kind: 'red', runner: 'pytest', failed: 1 })
    } finally {
      await tested.remove()
    }
  })
})

describe.skipIf(!hasVenv)('an active virtual environment outside of the workspace', () => {
  it('runs the tests', async () => {
    const site = await makeVenv('envs/shop')
    await folder.write(join(site, 'left.py'), "NAME = 'left-1'")
    const path = [folder.at('envs/shop/bin'), pathEnv].join(delimiter)
    const output = await outputOf(['import left', says('left.NAME, sys.prefix')], {}, { path })
    expect(output).toContain(`said left-1 ${folder.at('envs/shop')}`)
  })
})

describe.skipIf(!hasPython)('the Python of a person', () => {
  it.skipIf(!hasSystemPython)(
    'has the packages that were installed for the user alone',
    async () => {
      const asked = ['-c', 'import site; print(site.getusersitepackages())']
      vi.stubEnv('HOME', folder.at('person'))
      const { stdout } = spawnSync('/usr/bin/python3', asked, { encoding: 'utf8' })
      const site = stdout.trim()
      await folder.write(join(site.slice(folder.root.length), 'left.py'), "NAME = 'left-1'")
      const secret = await folder.write('person/.local/share/token', 'secret')
      const looks = ['import left', says('left.NAME'), saysWhetherThere(secret)]
      const output = await outputOf(looks, {}, { path: '/usr/bin:/bin' })
      expect(output).toContain('said left-1')
      expect(output).toContain(`said ${secret} False`)
    },
  )

  it('is asked once for each test run', async () => {
    const count = folder.at('asked')
    await writeFile(count, '')
    await folder.program('shims/python3', `echo >> ${count}\nPATH=${pathEnv}\nexec python3 "$@"`)
    const path = [folder.at('shims'), pathEnv].join(delimiter)
    const contents = { 'test_b.py': 'def test_b(): assert False\n' }
    await outputOf([], contents, { path })
    const { stdout } = spawnSync('wc', ['-l', count], { encoding: 'utf8' })
    expect(stdout).toMatch(/^1 /)
  })
})
