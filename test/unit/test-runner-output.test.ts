import { describe, expect, it } from 'vitest'
import { shownOutput } from '../../services/test-runner/run/output.ts'

const shown = (output: string) => shownOutput(output, '/tmp/x/w/shop', '/tmp/x/astra-test-report')

describe('shownOutput', () => {
  it('has no colours and no path of the copy', () => {
    const output =
      '\u001b[31mfailed\u001b[39m at file:///tmp/x/w/shop/src/a.js:1\r\nin /tmp/x/w/shop'
    expect(shown(output)).toBe('failed at src/a.js:1\nin .')
  })

  it('leaves out what a runner says of the report', () => {
    const output =
      'ok\nJSON report written to /tmp/x/astra-test-report\nTo: ../../astra-test-report'
    expect(shown(output)).toBe('ok')
  })

  it('keeps the end of what is too long, from a whole line on', () => {
    const result = shown(`${'a line of output\n'.repeat(2_000)}the last`)
    expect(result.length).toBeLessThanOrEqual(8_100)
    expect(result).toMatch(/^\[the beginning was cut off\]\na line of output\n[\s\S]*the last$/)
  })
})
