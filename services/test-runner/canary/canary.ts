import { dirname, join } from 'node:path/posix'
import type { Runner } from '../../../shared/contracts/receipt.ts'
import { standsForTests, type TestEntry } from '../run/report.ts'
import { canaryName, canaryWord } from './canary-name.ts'
import { pytestCanary, unittestCanary } from './canary-python.ts'
import { scriptCanary } from './canary-script.ts'
import type { Canary, CanarySite, CanaryText } from './canary-site.ts'

export function makeCanary(runner: Runner, site: CanarySite): Canary {
  const word = canaryWord()
  const folder = dirname(site.path)
  const named = (name: string) => (folder === '.' ? name : join(folder, name))
  if (runner === 'go') {
    const name = `${goFunctionOf(site.target)}_${word}`
    // Files run in order of their names, and a panic ends all that come later.
    const path = named(`0${word}_test.go`)
    return { path, text: goText(site.text, name), tests: 1, file: site.target.file, name }
  }
  const path = named(canaryName(site.path.split('/').at(-1) ?? '', word))
  return { path, ...canaryText(runner, site, word), file: path, name: null }
}

function canaryText(runner: Runner, site: CanarySite, word: string): CanaryText {
  if (runner === 'pytest') return pytestCanary(site, word)
  if (runner === 'unittest') return unittestCanary(site, word)
  return scriptCanary(runner, site, word)
}

/** With the start of the target's name, so that `-run` takes it too. */
function goFunctionOf(target: TestEntry): string {
  const name = target.name.split(' > ')[0] ?? ''
  return !standsForTests(target.id) && /^Test\w*$/.test(name) ? name : 'Test'
}

function goText(neighbour: string, name: string): string {
  const packageName = /^package\s+(\w+)/m.exec(neighbour)?.[1] ?? 'main'
  return `package ${packageName}

import "testing"

func ${name}(t *testing.T) {
	t.Fatal("this test must fail: it shows that failures are seen")
}
`
}

export type CanarySightings = {
  /** Ids of canaries that were seen failing. */
  failed: string[]
  /** Canaries that passed, were skipped or are missing, by file. */
  unseen: string[]
  /** What is left when the canaries are taken out. */
  others: TestEntry[]
}

/**
 * Parts the entries of a run into its canaries and the rest. On the base a file or a Go package
 * that does not load takes the canary with it, and is seen to fail.
 */
export function sightCanaries(
  tests: readonly TestEntry[],
  canaries: readonly Canary[],
  tree: 'base' | 'patched',
): CanarySightings {
  const sightings: CanarySightings = { failed: [], unseen: [], others: [] }
  for (const canary of canaries) {
    const isBroken = tests.some((test) => test.id === `file:${canary.file}`)
    const entries = tests.filter((test) => isOf(test, canary) && !standsForTests(test.id))
    const isSeen =
      entries.length >= canary.tests && entries.every((entry) => entry.status === 'failed')
    sightings.failed.push(...entries.filter(hasFailed).map((entry) => entry.id))
    if (!isSeen && !(tree === 'base' && isBroken)) sightings.unseen.push(canary.path)
  }
  sightings.others = tests.filter((test) => !canaries.some((canary) => isOf(test, canary)))
  return sightings
}

const hasFailed = (test: TestEntry) => test.status === 'failed'

function isOf(test: TestEntry, canary: Canary): boolean {
  return test.file === canary.file && (canary.name === null || canary.name === test.name)
}
