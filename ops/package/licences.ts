/** Ask for no more than to keep their text and the names in it. */
const PERMISSIVE = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'])

/** Licences that a person looked up, of packages whose package.json does not say them well. */
const REVIEWED: [packages: RegExp, declared: string, licence: string][] = [
  // Its repository has LICENSE-MIT and LICENSE-APACHE, the latter in version 2.0.
  [/^sqlite-vec(-[a-z]+-[a-z0-9]+)?$/, 'MIT OR Apache', 'MIT OR Apache-2.0'],
]

/**
 * The SPDX expression of a package's licence. Throws when there is none, or when it is not known to be
 * permissive: then somebody has to look, and to write down above what was found.
 */
export function acceptedLicence(name: string, declared: string | undefined): string {
  const [, , reviewed] =
    REVIEWED.find(([packages, said]) => packages.test(name) && said === declared) ?? []
  const licence = reviewed ?? declared
  if (licence && isPermissive(licence)) return licence
  throw new Error(
    `the licence of ${name} (${licence ?? 'none declared'}) is not one that the package may ship with: ` +
      'see ops/package/licences.ts',
  )
}

function isPermissive(licence: string): boolean {
  const expression = licence.replace(/^\((.*)\)$/, '$1')
  const words = expression.split(' ')
  // Which belongs to which, no simple rule can tell.
  if (words.includes('OR') && words.includes('AND')) return false
  if (words.includes('OR')) return expression.split(' OR ').some((each) => PERMISSIVE.has(each))
  return expression.split(' AND ').every((each) => PERMISSIVE.has(each))
}
