import type { Runner } from '../../../shared/contracts/receipt.ts'
import { standsForTests } from '../run/report.ts'
import type { CanarySite, CanaryText } from './canary-site.ts'

/** Where a canary gets its test function and its assertions from. */
type Form = {
  isModule: boolean
  /** The line that brings the test function in; empty where it is a global. */
  head: string
  test: string
  /** Calls that have to throw. */
  assertions: string[]
}

/**
 * A test in JavaScript, or TypeScript that has none of its own. Runners give each file a process or
 * a module registry of its own, so it loads what the targets' files load: whatever that does to the
 * runner, it does to this test. It fails as long as every assertion does what it says; without that
 * it passes, which is seen.
 */
export function scriptCanary(runner: Runner, site: CanarySite, word: string): CanaryText {
  const title = titleOf(site, word)
  const form = formOf(runner, site)
  const text = `${environmentOf(site.text)}// @ts-nocheck
${form.head}
${form.test}(${JSON.stringify(title)}, async () => {
${loading(site.text, form.isModule)}
${runner === 'node' ? ENDS_ITSELF : ''}
  const mustThrow = [
${form.assertions.map((each) => `    async () => ${each},`).join('\n')}
  ]
  for (const each of mustThrow) {
    try {
      await each()
    } catch {
      continue
    }
    return
  }
  throw new Error('this test must fail: it shows that failures are seen')
})
`
  return { text, tests: 1 }
}

/** With the target's name in it: what selects tests by name takes this one too. */
function titleOf({ target }: CanarySite, word: string): string {
  return standsForTests(target.id) ? word : `${target.name.replaceAll(' > ', ' ')} ${word}`
}

function formOf(runner: Runner, { path, text }: CanarySite): Form {
  const isModule = /\.m[jt]s$/.test(path) || (!/\.c[jt]s$/.test(path) && IMPORTS.test(text))
  const from = (names: string, module: string) =>
    isModule ? `import { ${names} } from '${module}'` : `const { ${names} } = require('${module}')`
  const assertions = [...assertCalls(text, isModule), ...chaiCalls(text, isModule)]
  const form = { isModule, head: '', test: 'test' }
  switch (runner) {
    case 'node':
      return { ...form, head: from('test', 'node:test'), assertions }
    case 'vitest':
      return {
        ...form,
        // A global of that name may be switched off, and the module can only be imported.
        head: "import { expect, test } from 'vitest'",
        assertions: [...EXPECT_CALLS, ...assertions],
      }
    case 'jest':
      return {
        ...form,
        head: text.includes('@jest/globals') ? from('expect, test', '@jest/globals') : '',
        assertions: [...EXPECT_CALLS, ...assertions],
      }
    default:
      return { ...form, test: '(globalThis.it ?? globalThis.test)', assertions }
  }
}

const IMPORTS = /^\s*(import|export)\b(?!\s*\()/m

/** What the targets' files load may keep a process alive, and they end that themselves. */
const ENDS_ITSELF = '  setTimeout(() => process.exit(1), 1000).unref()'

const EXPECT_CALLS = [
  'expect(1).toBe(2)',
  'expect(1).toEqual(2)',
  'expect({ a: 1 }).toStrictEqual({ a: 2 })',
  'expect(0).toBeTruthy()',
  'expect(() => {}).toThrow()',
]

/** Those of node:assert in the flavour that the text uses. */
function assertCalls(text: string, isModule: boolean): string[] {
  const module = /['"]((?:node:)?assert(?:\/strict)?)['"]/.exec(text)?.[1] ?? 'node:assert'
  const assert = isModule ? `(await import('${module}')).default` : `require('${module}')`
  return [
    'ok(false)',
    'equal(1, 2)',
    'strictEqual(1, 2)',
    'deepEqual({ a: 1 }, { a: 2 })',
    'deepStrictEqual({ a: 1 }, { a: 2 })',
    'throws(() => {})',
    'rejects(async () => {})',
    "match('a', /b/)",
  ].map((call) => `${assert}.${call}`)
}

function chaiCalls(text: string, isModule: boolean): string[] {
  if (!/['"]chai['"]/.test(text)) return []
  const chai = isModule ? "(await import('chai'))" : "require('chai')"
  return ['expect(1).to.equal(2)', 'assert.equal(1, 2)', 'expect([]).to.have.length(1)'].map(
    (call) => `${chai}.${call}`,
  )
}

/** A comment that names the environment counts for its own file, at its start. */
function environmentOf(text: string): string {
  const found = /@(?:jest|vitest)-environment\s+[\w./@-]+/.exec(text)
  return found ? `/** ${found[0]} */\n` : ''
}

const LOADED = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(['"])([^'"\n]+)\1/g

/** What does not load keeps nothing else from loading: it is the targets that say so. */
function loading(text: string, isModule: boolean): string {
  const modules = new Set([...text.matchAll(LOADED)].map((match) => match[2] ?? ''))
  const load = (module: string) => {
    const imported = `await import(${JSON.stringify(module)})`
    const attempt = isModule ? imported : `require(${JSON.stringify(module)})`
    // Of CommonJS that loads a module: what is one cannot be required in every Node.
    const otherwise = isModule ? '' : ` try { ${imported} } catch {} `
    return `  try { ${attempt} } catch {${otherwise}}`
  }
  return [...modules].map(load).join('\n')
}
