import { describe, expect, it } from 'vitest'
import { proofPatch } from '../../services/test-runner/proof/protected-files.ts'

const before = 'a'.repeat(64)
const changed = (path: string) => ({ path, before, after: 'new' })
const added = (path: string) => ({ path, before: null, after: 'new' })
const deleted = (path: string) => ({ path, before, after: null })

function proof(...files: ReturnType<typeof changed | typeof added | typeof deleted>[]) {
  const { applied, dropped } = proofPatch({ files }, new Set(['checks/prices.js']))
  return { applied: applied.files.map((file) => file.path), dropped }
}

describe('proofPatch', () => {
  it.each([
    'tests/helper.py',
    'shop/test_prices.py',
    'shop/prices_test.py',
    'src/prices.test.ts',
    'src/prices.spec.tsx',
    'src/__tests__/prices.js',
    'price/price_test.go',
    'price/testdata/in.json',
    'checks/prices.js',
  ])('drops changes to the test file %s and keeps one that is new', (path) => {
    if (path !== 'checks/prices.js') {
      expect(proof(changed('src/a.js'), added(path))).toEqual({
        applied: ['src/a.js'],
        dropped: [],
      })
    }
    expect(proof(changed('src/a.js'), changed(path))).toEqual({
      applied: ['src/a.js'],
      dropped: [path],
    })
    expect(proof(deleted(path))).toEqual({ applied: [], dropped: [path] })
  })

  it.each([
    'conftest.py',
    'tests/conftest.py',
    'pytest.ini',
    'pyproject.toml',
    'setup.cfg',
    'tox.ini',
    'sitecustomize.py',
    'pytest.py',
    '_pytest/python.py',
    'unittest/__init__.py',
    'package.json',
    'packages/a/package.json',
    'package-lock.json',
    'pnpm-lock.yaml',
    'vitest.config.ts',
    'vite.config.js',
    'jest.config.cjs',
    'vitest.setup.ts',
    '.mocharc.yml',
    '.babelrc',
    'go.mod',
    'Cargo.toml',
    'build.rs',
    '.astra.json',
    'node_modules/a/index.js',
  ])('drops %s even when it is new', (path) => {
    expect(proof(added(path))).toEqual({ applied: [], dropped: [path] })
    expect(proof(changed(path))).toEqual({ applied: [], dropped: [path] })
  })

  it.each([
    'src/latest.ts',
    'shop/contest.py',
    'src/testing.go',
    'src/protest/a.py',
    'lib/specs.js',
  ])('takes %s for source', (path) => {
    expect(proof(changed(path))).toEqual({ applied: [path], dropped: [] })
  })
})
