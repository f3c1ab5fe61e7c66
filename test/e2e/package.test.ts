import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { buildPackage } from '../../ops/package/build-package.ts'
import { productRoot } from '../../shared/config.ts'
import { productVersion } from '../../shared/product-version.ts'
import { startAstra } from '../support/cli.ts'
import { createPerson, oldNode } from '../support/package.ts'

const STEP_MS = 300_000
const name = 'astra-codebase-memory'

let folder: string
let person: Awaited<ReturnType<typeof createPerson>>
let tarball: string
/** The package in a folder of its own, and its command. */
let local: { root: string; astra: string }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-package-'))
  person = await createPerson(folder)
  await mkdir(join(folder, 'home'))
  ;({ tarball } = await buildPackage(join(folder, 'build')))
  const empty = join(folder, 'empty')
  await mkdir(empty)
  await install(['--prefix', empty], empty)
  const modules = join(empty, 'node_modules')
  local = { root: join(modules, name), astra: join(modules, '.bin', 'astra') }
}, 2 * STEP_MS)
afterAll(() => rm(folder, { recursive: true, force: true }))

async function install(args: string[], cwd: string): Promise<void> {
  const all = ['install', '--no-audit', '--no-fund', '--prefer-offline', ...args, tarball]
  const { code, stderr } = await person.npm(all, { cwd, limitMs: STEP_MS })
  expect(code, stderr).toBe(0)
}

it('runs the demo from an empty folder that it was installed into', {
  timeout: STEP_MS,
}, async () => {
  const options = { cwd: folder, limitMs: STEP_MS }
  const { code, stdout, stderr } = await person.run(local.astra, ['demo'], options)
  expect(stdout, stderr).toContain('All of it held')
  expect(code).toBe(0)
})

it('repairs a project when it was installed globally, without a script of any package', {
  timeout: 2 * STEP_MS,
}, async () => {
  const prefix = join(folder, 'global')
  await install(['--global', '--ignore-scripts', '--prefix', prefix], folder)
  const astra = join(prefix, 'bin', 'astra')
  const project = join(folder, 'booking_calendar')
  await cp(join(productRoot, 'demo_projects/templates/more/booking_calendar'), project, {
    recursive: true,
  })
  const options = { cwd: project, limitMs: STEP_MS }
  expect((await person.run(astra, ['--version'], options)).stdout).toBe(`${productVersion()}\n`)
  const { code, stdout, stderr } = await person.run(astra, ['fix', '.', '--offline'], options)
  expect(code, stdout + stderr).toBe(0)
  const tests = await person.run('node', ['--test'], options)
  expect(tests.code, tests.stdout).toBe(0)
  expect(await readdir(join(folder, 'home', '.local', 'share'))).toEqual([name])
})

it('finds nothing amiss with itself', { timeout: STEP_MS }, async () => {
  const options = { cwd: folder, limitMs: STEP_MS }
  const { stdout } = await person.run(local.astra, ['doctor', '--json'], options)
  const { checks } = JSON.parse(stdout)
  const failed = checks.filter(({ result }: { result: string }) => result === 'fail')
  expect(failed).toEqual([])
})

it('serves its dashboard, the board of queues included', async () => {
  const home = join(folder, 'dashboard')
  await mkdir(home)
  const main = join(local.root, 'services/cli/main.js')
  const astra = startAstra(['dashboard', '--no-auth', '--port', '0'], { home, main })
  await astra.says('Ctrl-C stops it')
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(astra.printed()) ?? []
  const page = await (await fetch(`${url}/fleet`)).text()
  const [, style = ''] = /href="([^"]+\.css[^"]*)"/.exec(page) ?? []
  const answers = await Promise.all(
    ['/queues', '/healthz', style].map(async (path) => (await fetch(`${url}${path}`)).status),
  )
  expect(answers).toEqual([200, 200, 200])
  astra.kill('SIGINT')
  expect((await astra.result).code).toBe(0)
})

it('makes of every reference text the token ids that the clone makes of it', async () => {
  const model = 'services/embedder/models/all-MiniLM-L6-v2'
  const golden = join(productRoot, 'test', 'golden', 'embeddings.json')
  const { texts } = JSON.parse(await readFile(golden, 'utf8'))
  const url = pathToFileURL(join(local.root, 'services/embedder/tokenize.js')).href
  const { createTokenizer } = await import(url)
  const tokenize = createTokenizer(
    JSON.parse(await readPackaged(`${model}/tokenizer.json`)),
    JSON.parse(await readPackaged(`${model}/tokenizer_config.json`)),
  )
  expect(texts).toHaveLength(196)
  for (const { text, input_ids } of texts) expect(tokenize(text), text).toEqual(input_ids)
})

it('brings no install script but that of msgpackr-extract, which downloads nothing', async () => {
  const packages = Object.entries(await installedPackages())
  const withScript = packages.filter(([, { hasInstallScript }]) => hasInstallScript)
  expect(withScript.map(([path]) => path)).toEqual(['node_modules/msgpackr-extract'])
  const runtime = 'node_modules/onnxruntime-node/package.json'
  expect(JSON.parse(await readPackaged(runtime))).not.toHaveProperty('scripts')
})

it('lists each package that npm installed, with its licence, for programs and for people', async () => {
  const sbom = sbomSchema.parse(JSON.parse(await readPackaged('sbom.cdx.json')))
  const list = await readPackaged('THIRD_PARTY_LICENSES.txt')
  const listed = new Set(sbom.components.map((component) => component.name))
  const paths = Object.keys(await installedPackages())
  const present = paths.map((path) => path.split('node_modules/').at(-1) ?? '')
  expect(present.length).toBeGreaterThan(60)
  expect(present.filter((each) => !listed.has(each))).toEqual([name])
  for (const each of ['@xenova/transformers', '@huggingface/jinja', 'all-MiniLM-L6-v2']) {
    expect(listed).toContain(each)
  }
  for (const { name: component, version } of sbom.components) {
    expect(list).toContain(`\n  ${component} ${version}: `)
  }
  const refs = [sbom.metadata.component, ...sbom.components].map((each) => each['bom-ref'])
  expect(new Set(refs).size).toBe(refs.length)
  const named = sbom.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn])
  expect(named.filter((ref) => !refs.includes(ref))).toEqual([])
})

const old = await oldNode()
it.skipIf(old === null)(
  `says under an old Node what it needs${old ? '' : ' (needs a Node below 24 on the PATH)'}`,
  async () => {
    const options = { cwd: folder, limitMs: STEP_MS }
    const { code, stdout, stderr } = await person.run(old ?? '', [local.astra, 'demo'], options)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('astra needs Node 24.15 or newer')
    expect(stderr).toContain('npx -y -p node@24 astra demo')
    expect(stderr).not.toContain('    at ')
  },
)

const readPackaged = (file: string) => readFile(join(local.root, file), 'utf8')

/** What npm put into the folder, by path. */
async function installedPackages() {
  const lock = join(folder, 'empty', 'node_modules', '.package-lock.json')
  return lockSchema.parse(JSON.parse(await readFile(lock, 'utf8'))).packages
}

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ hasInstallScript: z.boolean().optional() })),
})
const component = z.object({ 'bom-ref': z.string(), name: z.string(), version: z.string() })
const sbomSchema = z.object({
  bomFormat: z.literal('CycloneDX'),
  metadata: z.object({ component }),
  components: z.array(component.extend({ licenses: z.array(z.unknown()).length(1) })),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
})
