import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { productRoot } from '../../shared/config.ts'
import { RUNTIME, RUNTIME_COMMON } from './manifest.ts'

const BINARIES = ['onnxruntime_binding.node', 'libonnxruntime.so.1']

/**
 * Puts the inference runtime into the package: its code and the CPU binaries of Linux, which are all
 * that the product uses. What its package.json declares for its install script alone goes with it.
 */
export async function bundleRuntime(stage: string): Promise<void> {
  const copy = (file: string) =>
    cp(join(productRoot, 'node_modules', file), join(stage, 'node_modules', file), {
      recursive: true,
    })
  const binaries = ['x64', 'arm64'].flatMap((cpu) =>
    BINARIES.map((name) => `${RUNTIME}/bin/napi-v6/linux/${cpu}/${name}`),
  )
  for (const file of [RUNTIME_COMMON, `${RUNTIME}/dist`, ...binaries]) await copy(file)

  const path = join(RUNTIME, 'package.json')
  const original = JSON.parse(await readFile(join(productRoot, 'node_modules', path), 'utf8'))
  const { scripts: _scripts, devDependencies: _tools, ...kept } = original
  const dependencies = { [RUNTIME_COMMON]: original.dependencies[RUNTIME_COMMON] }
  const target = join(stage, 'node_modules', path)
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, `${JSON.stringify({ ...kept, dependencies }, null, 2)}\n`)
}
