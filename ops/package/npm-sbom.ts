import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { Lock } from './clone.ts'
import { type PackageManifest, RUNTIME, RUNTIME_COMMON } from './manifest.ts'
import { runProgram } from './run-program.ts'

const componentSchema = z.looseObject({
  'bom-ref': z.string(),
  name: z.string(),
  version: z.string(),
})
const sbomSchema = z.looseObject({
  metadata: z.looseObject({ component: z.looseObject({}) }),
  components: z.array(componentSchema),
})

export type Component = z.infer<typeof componentSchema>
export type Sbom = z.infer<typeof sbomSchema>

/** npm's CycloneDX document of what the package needs, at the versions of the lock file. */
export function npmSbom(manifest: PackageManifest, lock: Lock): Sbom {
  const folder = mkdtempSync(join(tmpdir(), 'astra-sbom-'))
  const write = (file: string, value: unknown) =>
    writeFileSync(join(folder, file), JSON.stringify(value))
  const npm = (...args: string[]) => runProgram('npm', [...args, '--package-lock-only'], folder)
  try {
    write('package.json', manifest)
    write('package-lock.json', packageLock(manifest, lock))
    // Drops from the lock file what the package does not need; asks nobody.
    npm('install', '--ignore-scripts', '--offline')
    return sbomSchema.parse(JSON.parse(npm('sbom', '--sbom-format=cyclonedx')))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function packageLock(manifest: PackageManifest, lock: Lock): Lock {
  const path = `node_modules/${RUNTIME}`
  const runtime = lock.packages[path]
  const common = runtime?.dependencies?.[RUNTIME_COMMON]
  if (!common) throw new Error(`package-lock.json has no ${RUNTIME} that needs ${RUNTIME_COMMON}`)
  const packages = {
    ...lock.packages,
    '': manifest,
    [path]: { ...runtime, dependencies: { [RUNTIME_COMMON]: common } },
  }
  return { ...lock, packages }
}
