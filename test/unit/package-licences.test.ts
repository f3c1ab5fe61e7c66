import { expect, it } from 'vitest'
import { acceptedLicence } from '../../ops/package/licences.ts'

it.each([
  ['MIT', 'MIT'],
  ['(MIT OR GPL-3.0-only)', '(MIT OR GPL-3.0-only)'],
  ['Apache-2.0 AND MIT', 'Apache-2.0 AND MIT'],
])('takes a package under %s', (declared, licence) => {
  expect(acceptedLicence('some-package', declared)).toBe(licence)
})

it.each([
  undefined,
  'SEE LICENSE IN LICENSE.txt',
  'GPL-3.0-only',
  'MPL-2.0',
  'LGPL-3.0-or-later AND MIT',
  '(MIT OR Apache-2.0) AND GPL-3.0-only',
  'MIT AND (Apache-2.0 OR GPL-3.0-only)',
  'UNLICENSED',
])('refuses a package under %s, by name', (declared) => {
  expect(() => acceptedLicence('some-package', declared)).toThrow('some-package')
})

it('takes what a person found of a package only as long as it declares the same', () => {
  expect(acceptedLicence('sqlite-vec-linux-x64', 'MIT OR Apache')).toBe('MIT OR Apache-2.0')
  expect(() => acceptedLicence('sqlite-vec', 'GPL-3.0-only')).toThrow('sqlite-vec')
})
