import { expect, it } from 'vitest'
import { timeLimit } from '../../services/test-runner/run/time-limit.ts'

const config = { ASTRA_TEST_SECONDS: 300 }

it('is the configured one until the baseline has shown how long the tests take', () => {
  expect(timeLimit(config, null)).toEqual({ ms: 300_000, text: '300 s (ASTRA_TEST_SECONDS)' })
})

it('is ten times the baseline, so that an edit that makes tests hang is told so soon', () => {
  const { ms, text } = timeLimit(config, 4000)
  expect(ms).toBe(40_000)
  expect(text).toBe('40 s; before the edits it took 4.0 s')
})

it('is never below 20 s and never above the configured one', () => {
  expect(timeLimit(config, 300).ms).toBe(20_000)
  expect(timeLimit(config, 60_000).ms).toBe(300_000)
  expect(timeLimit({ ASTRA_TEST_SECONDS: 3 }, 300).ms).toBe(3000)
})
