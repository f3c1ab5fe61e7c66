import { expect, it } from 'vitest'
import { costText, eventLine, refusalHelp } from '../../services/cli/format/format-run.ts'
import { oneLine, plain, table } from '../../services/cli/format/terminal.ts'
import { runExit } from '../../services/cli/manual/repair-pages.ts'
import { runStatusSchema } from '../../shared/contracts/run.ts'
import { sampleView } from '../support/run-view.ts'

it.each(['no_api_key', 'cost_not_approved'] as const)(
  'says after a refusal for %s what --offline can and cannot do',
  (reason) => {
    const help = refusalHelp(sampleView({ status: 'refused', reason }))
    expect(help).toContain('astra fix /some/where --offline')
    expect(help).toMatch(/not Astra/)
    expect(help).toMatch(/It can try/)
    expect(help).toMatch(/It cannot/)
  },
)

it('has no such advice for a run that was not refused', () => {
  expect(refusalHelp(sampleView())).toBeNull()
})

it('says of a notional cost that nobody pays it, and of a real one nothing', () => {
  expect(costText({ cost_usd: 0.5, cost_is_notional: true })).toMatch(/^\$0\.500000 .*nobody/)
  expect(costText({ cost_usd: 0.5, cost_is_notional: false })).toBe('$0.500000')
})

it('documents an exit code for every status', () => {
  expect(runExit.map(([, status]) => status).sort()).toEqual([...runStatusSchema.options].sort())
})

it('keeps a foreign event on one line, without what would steer a terminal', () => {
  const text = `a\n\u001b[31mred\u001b[0m \u001b]0;title\u0007b\u009b2J ${'x'.repeat(500)}`
  const line = eventLine({ type: 'call', at: '2026-11-29T10:11:12.000Z', text })
  expect(line).toMatch(/^10:11:12 {2}call {6}a red b/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
  expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
  expect(line.length).toBeLessThan(170)
})

it('keeps line breaks and tabs of a diff', () => {
  expect(plain('a\n\tb\r\n')).toBe('a\n\tb\n')
})

it('cuts a long line and says so', () => {
  expect(oneLine('  a   b\nc ', 10)).toBe('a b c')
  expect(oneLine('abcdef', 4)).toBe('abc…')
})

it('aligns the columns of a table by their widest cell', () => {
  expect(
    table(
      ['A', 'Longer'],
      [
        ['1', '2'],
        ['333', '4'],
      ],
    ),
  ).toBe('A    Longer\n1    2\n333  4')
})
