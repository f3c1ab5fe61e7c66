import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { productRoot } from '../../shared/config.ts'
import { RUNTIME, RUNTIME_COMMON } from './manifest.ts'
import { MODEL, modelFolder, type Shipped } from './shipped.ts'

/** THIRD_PARTY_LICENSES.txt: what is inside, with its texts, and what npm installs beside it. */
export function licenceList(shipped: readonly Shipped[]): string {
  const line = ({ component, licence }: Shipped) =>
    `${component.name} ${component.version}: ${licence}`
  const inside = shipped.filter(({ isInside }) => isInside)
  const beside = shipped.filter(({ isInside }) => !isInside)
  const texts = inside.map((each) => `${RULE}\n${line(each)}\n${RULE}\n\n${textOf(each)}`)
  return [
    'What this package has from others. sbom.cdx.json says the same for programs.\n',
    `In this package; the texts of their licences are below. The binaries of ${RUNTIME} hold code of`,
    'many others, among it Eigen (MPL-2.0, its source: https://gitlab.com/libeigen/eigen).\n',
    ...inside.map((each) => `  ${line(each)}`),
    '\nInstalled beside it by npm, at these or newer fitting versions; each has its own text.\n',
    ...beside.map((each) => `  ${line(each)}`),
    '',
    ...texts,
  ].join('\n')
}

const RULE = '-'.repeat(80)

function textOf({ component: { name, version } }: Shipped): string {
  const notices = join(productRoot, 'ops', 'package', 'notices', `onnxruntime-${version}`)
  const files = {
    [RUNTIME]: [join(notices, 'LICENSE'), join(notices, 'ThirdPartyNotices.txt')],
    [RUNTIME_COMMON]: [join(notices, 'LICENSE')],
    [MODEL]: [join(modelFolder, 'LICENSE')],
  }[name] ?? [join(productRoot, 'node_modules', name, 'LICENSE')]
  const missing = files.find((file) => !existsSync(file))
  if (missing)
    throw new Error(`${name} is shipped, and the text of its licence is missing: ${missing}`)
  return `${files.map((file) => readFileSync(file, 'utf8').trim()).join('\n\n')}\n`
}
