import { describe, expect, it } from 'vitest'
import { globMatcher, globProblem } from '../../shared/glob.ts'

describe('globs of a repository', () => {
  it.each([
    ['test/**/*.test.js', 'test/a/b/c.test.js', true],
    ['test/**/*.test.js', 'test/c.test.js', true],
    ['src/*.{ts,tsx}', 'src/a.tsx', true],
    ['src/*.{ts,tsx}', 'src/a/b.ts', false],
    ['fixtures/file-?.json', 'fixtures/file-1.json', true],
    ['+(a|aa)*', 'aaaa', false],
  ])('%s and %s: %s', (glob, path, expected) => {
    expect(globMatcher([glob], { dot: true })(path)).toBe(expected)
  })

  it.each([
    ['*a*a*a', /more than 2 stars between two slashes/],
    ['**/*/*/*/*/*/*.js', /more than 6 stars/],
    ['a'.repeat(501), /longer than 500/],
  ])('%s is refused: it could take for ever', (glob, problem) => {
    expect(globProblem(glob)).toMatch(problem)
  })

  it('takes no time that the repository could choose', () => {
    const path = `${'a'.repeat(250)}/${'b'.repeat(250)}/${'a'.repeat(250)}`
    const matches = globMatcher(['**/*a*x/**/*b*x/*a'], { dot: true })
    const started = process.cpuUsage()
    expect(matches(path)).toBe(false)
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
  })
})
