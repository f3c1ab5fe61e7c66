import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { productRoot } from '../../shared/config.ts'
import type { Lock } from './clone.ts'
import { acceptedLicence } from './licences.ts'
import { RUNTIME, RUNTIME_COMMON } from './manifest.ts'
import type { Component, Sbom } from './npm-sbom.ts'

export const MODEL = 'all-MiniLM-L6-v2'
export const modelFolder = join(productRoot, 'services', 'embedder', 'models', MODEL)

/** `isInside`: part of the tarball; the others are installed beside it by npm. */
export type Shipped = { component: Component; licence: string; isInside: boolean }

/**
 * All that is not ours, in the package and beside it; `bundled` are the packages in the tokenizer.
 * Throws for a licence that is not accepted.
 */
export function listShipped(sbom: Sbom, lock: Lock, bundled: readonly string[]): Shipped[] {
  const insides = [RUNTIME, RUNTIME_COMMON]
  const libraries = [
    ...sbom.components.map((component) => {
      const isInside = insides.includes(component.name)
      // npm's hash is of a tarball that holds more than what is inside here.
      const { hashes: _, ...withoutHash } = component
      return { component: isInside ? withoutHash : component, isInside }
    }),
    ...bundled.map((name) => ({ component: bundledLibrary(name, lock), isInside: true })),
  ].map((each) => ({ ...each, licence: licenceOf(each.component, lock) }))
  return [...libraries, { component: embeddingModel(), licence: 'Apache-2.0', isInside: true }]
}

/** The CycloneDX document of all of it. */
export function sbomDocument(sbom: Sbom, name: string, shipped: readonly Shipped[]) {
  const own = { ...sbom.metadata.component, name, type: 'application' }
  return {
    ...sbom,
    metadata: { ...sbom.metadata, component: own },
    components: shipped.map(({ component, licence }) => ({
      ...component,
      // A single licence has an id; what is put together is an expression.
      licenses: [licence.includes(' ') ? { expression: licence } : { license: { id: licence } }],
    })),
  }
}

function licenceOf({ name, version }: Component, lock: Lock): string {
  const [, entry] =
    Object.entries(lock.packages).find(
      ([path, each]) => path.endsWith(`node_modules/${name}`) && each.version === version,
    ) ?? []
  return acceptedLicence(name, entry?.license)
}

function bundledLibrary(name: string, lock: Lock): Component {
  const version = lock.packages[`node_modules/${name}`]?.version
  if (!version) throw new Error(`package-lock.json has no ${name}, which the tokenizer imports`)
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    properties: [{ name: 'cdx:npm:package:bundled', value: 'true' }],
  }
}

function embeddingModel(): Component {
  const weights = readFileSync(join(modelFolder, 'onnx', 'model_quantized.onnx'))
  const content = createHash('sha256').update(weights).digest('hex')
  return {
    'bom-ref': MODEL,
    type: 'machine-learning-model',
    name: MODEL,
    // It has no versions: the hash of the weights says which it is.
    version: content.slice(0, 12),
    hashes: [{ alg: 'SHA-256', content }],
    externalReferences: [
      { type: 'website', url: `https://huggingface.co/sentence-transformers/${MODEL}` },
    ],
  }
}
