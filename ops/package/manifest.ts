import { cloneManifest } from './clone.ts'

/** Its part that we need is bundled; as a dependency it would bring an old sharp, which downloads. */
const INSIDE = '@xenova/transformers'

/** Ships inside, without its install script: that downloads GPU files, and fails without internet. */
export const RUNTIME = 'onnxruntime-node'
/** The one package that it needs without that script. */
export const RUNTIME_COMMON = 'onnxruntime-common'

export type PackageManifest = ReturnType<typeof packageManifest>

/** The package.json of the package. It stays private, so that nobody publishes it by accident. */
export function packageManifest() {
  const { dependencies, ...clone } = cloneManifest()
  return {
    ...clone,
    // What the inference runtime inside is for.
    os: ['linux'],
    cpu: ['x64', 'arm64'],
    libc: ['glibc'],
    files: [
      ...['bin', 'services', 'shared', 'demo_projects', 'docs', 'ops'],
      ...['.env.example', 'CHANGELOG.md', 'THIRD_PARTY_LICENSES.txt', 'sbom.cdx.json'],
    ],
    dependencies: Object.fromEntries(
      Object.entries(dependencies).filter(([name]) => name !== INSIDE),
    ),
    bundleDependencies: [RUNTIME],
  }
}
