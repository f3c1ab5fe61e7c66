import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { z } from 'zod'
import { productRoot } from '../../shared/config.ts'
import { bundleRuntime } from './bundle-runtime.ts'
import { bundleTokenizer } from './bundle-tokenizer.ts'
import { cloneLock } from './clone.ts'
import { copyFiles } from './copy-files.ts'
import { licenceList } from './licence-list.ts'
import { packageManifest } from './manifest.ts'
import { npmSbom } from './npm-sbom.ts'
import { runProgram } from './run-program.ts'
import { listShipped, sbomDocument } from './shipped.ts'

export type Packed = { tarball: string; files: number; bytes: number }

/** Makes the tarball in `folder`. The package has every file at the place that it has in the clone. */
export async function buildPackage(folder: string): Promise<Packed> {
  const stage = await mkdtemp(join(tmpdir(), 'astra-package-'))
  try {
    const manifest = packageManifest()
    const lock = cloneLock()
    compile(stage)
    await copyFiles(stage)
    const bundled = await bundleTokenizer(stage)
    await bundleRuntime(stage)
    const sbom = npmSbom(manifest, lock)
    const shipped = listShipped(sbom, lock, bundled)
    const write = (file: string, text: string) => writeFile(join(stage, file), text)
    await write('package.json', json(manifest))
    await write('sbom.cdx.json', json(sbomDocument(sbom, manifest.name, shipped)))
    await write('THIRD_PARTY_LICENSES.txt', licenceList(shipped))
    return await pack(stage, folder)
  } finally {
    await rm(stage, { recursive: true })
  }
}

/** Node strips no types below node_modules, so the package has JavaScript. */
function compile(stage: string): void {
  const tsc = join(productRoot, 'node_modules', '.bin', 'tsc')
  runProgram(tsc, ['-p', 'ops/package/tsconfig.json', '--outDir', stage], productRoot)
}

const packedSchema = z.array(
  z.object({
    filename: z.string(),
    files: z.array(z.object({ path: z.string() })),
    size: z.number(),
  }),
)

async function pack(stage: string, folder: string): Promise<Packed> {
  await mkdir(folder, { recursive: true })
  const output = runProgram('npm', ['pack', '--json', '--pack-destination', folder], stage)
  const [packed] = packedSchema.parse(JSON.parse(output))
  if (!packed) throw new Error('npm pack made nothing')
  const paths = new Set(packed.files.map(({ path }) => path))
  const left = (await filesBelow(stage)).filter((path) => !paths.has(path))
  if (left.length > 0) throw new Error(`npm pack left out ${left.join(', ')}`)
  return {
    tarball: join(folder, packed.filename),
    files: packed.files.length,
    bytes: packed.size,
  }
}

/** npm has ideas of its own about what belongs into a package. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
