import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attack, Evidence } from '../attack.ts'
import { notRefused, notTried, notUnproved, notUnusable } from '../attack.ts'

const REPLACEMENTS = [
  ...['symbolic link', 'FIFO', 'folder', 'device', 'other file', 'hidden by a mount'],
]
const SHOP = { project: 'shop-node' } as const
const source = (file: string) => ({ 'src/price.mjs': file })

const AIMED =
  'a patch that is aimed at its own tests runs in the process that reports on them; the receipt keeps its hash'

export const reportAttacks: Attack[] = [
  {
    name: 'a link, FIFO, folder or device cannot take the place of the report',
    stoppedBy: 'the report is a mount; it is opened without following or waiting',
    project: 'report-replaced',
    reached: (evidence) => [
      ...notTried(evidence, ['find']),
      ...notRefused(evidence, REPLACEMENTS),
      ...('kind' in evidence.result && evidence.result.kind === 'green'
        ? []
        : ['the report of the runner is not there']),
    ],
  },
  {
    name: 'a report of a gigabyte is neither written nor read',
    stoppedBy: 'limit of file size; no report over 32 MB is read',
    project: 'huge-report',
    reached: (evidence) => [
      ...notRefused(evidence, ['by a hole', 'by contents']),
      ...notUnusable(evidence, 'tests_unreadable', 'wrote no report'),
    ],
  },
  {
    name: 'a test that rewrites the tests beside it changes no later run',
    stoppedBy: 'every run has a fresh copy, and commands come from the base',
    project: 'self-rewriting',
    reached: async (evidence) => [
      ...notTried(evidence, ['rewrite']),
      ...((await readFile(join(evidence.base, 'second.test.mjs'), 'utf8')).includes('equal(1, 2)')
        ? []
        : ['the snapshot was changed']),
    ],
  },
  {
    name: 'source that ends the runner with exit code 0 proves nothing',
    stoppedBy: 'an entry for a file is no test',
    ...SHOP,
    patch: source('exit-zero.mjs'),
    reached: (evidence) => notUnproved(evidence, ['tests_unusable', 'target_missing']),
  },
  {
    name: 'source that ends the runner while it is loaded proves nothing',
    stoppedBy: 'an entry for a file is no test',
    ...SHOP,
    patch: source('exit-zero-on-load.mjs'),
    reached: (evidence) => notUnproved(evidence, ['tests_unusable', 'target_missing']),
  },
  {
    name: 'source that ends pytest with exit code 0 proves nothing',
    stoppedBy: 'no report, no verdict',
    project: 'shop-pytest',
    needs: ['pytest'],
    patch: { 'shop.py': 'exit-zero.py' },
    reached: (evidence) => notUnproved(evidence, ['tests_unusable']),
  },
  {
    name: 'source that makes every assertion of node:assert pass proves nothing',
    stoppedBy: 'canary: a test that must fail passed',
    ...SHOP,
    patch: source('patched-assert.mjs'),
    reached: (evidence) => notUnproved(evidence, ['canary']),
  },
  {
    name: 'source that makes every test of pytest pass proves nothing',
    stoppedBy: 'canary: a test that must fail passed',
    project: 'shop-pytest',
    needs: ['pytest'],
    patch: { 'shop.py': 'patched-runtest.py' },
    reached: (evidence) => notUnproved(evidence, ['canary']),
  },
  {
    name: 'source that makes every expectation of vitest pass proves nothing',
    stoppedBy: 'canary: a test that must fail passed',
    project: 'vitest-shop',
    patch: { 'src/price.js': 'patched-expect.js' },
    reached: (evidence) => notUnproved(evidence, ['canary']),
  },
  {
    name: 'a printed "3 passed" proves nothing under node --test',
    stoppedBy: 'what is printed is never read for a verdict',
    ...SHOP,
    patch: source('fake-output.mjs'),
    reached: (evidence) => notUnproved(evidence, ['target_not_passing', 'tests_unusable']),
  },
  {
    name: 'a printed "3 passed" proves nothing under pytest',
    stoppedBy: 'what is printed is never read for a verdict',
    project: 'shop-pytest',
    needs: ['pytest'],
    patch: { 'shop.py': 'fake-output.py' },
    reached: (evidence) => notUnproved(evidence, ['tests_unusable']),
  },
  {
    name: 'exit code 0 without a test is no verdict',
    stoppedBy: 'a run that names no test is unusable',
    project: 'no-test',
    reached: (evidence) => notUnusable(evidence, 'no_tests_found'),
  },
  {
    name: 'a report that the source writes by itself before it kills the runner proves nothing',
    stoppedBy: 'a runner ended by a signal has no verdict',
    ...SHOP,
    patch: source('writes-own-report.mjs'),
    reached: (evidence) => notUnproved(evidence, ['tests_unusable']),
  },
  {
    name: 'source that rewrites its own tests while they run is named by its hash',
    stoppedBy: 'nothing',
    notExcludable: AIMED,
    ...SHOP,
    patch: source('rewrites-tests.mjs'),
    reached: keptInReceipt,
  },
  {
    name: 'source that knows its tests by name and leaves all others alone is named by its hash',
    stoppedBy: 'nothing',
    notExcludable: AIMED,
    ...SHOP,
    patch: source('knows-its-tests.mjs'),
    reached: keptInReceipt,
  },
]

/** A person can look up what was run. */
function keptInReceipt({ result }: Evidence): string[] {
  if (!('confirmed' in result) || !result.confirmed) {
    return [`it was refused, so it can be excluded: ${JSON.stringify(result).slice(0, 500)}`]
  }
  return /^[0-9a-f]{64}$/.test(result.receipt.body.patch) ? [] : ['the receipt names no patch']
}
