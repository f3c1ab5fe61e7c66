import { expect, it } from 'vitest'
import { diffView } from '../../services/dashboard/parts/diff.ts'
import {
  printedEnd,
  printedLine,
  printedText,
} from '../../services/dashboard/parts/printed-text.ts'
import { quoted } from '../../services/dashboard/parts/quoted.ts'

it.each([
  ['colours and cursor movements', '\u001b[31mred\u001b[0m\u001b[2J\u001b[H', 'red'],
  ['a link of a terminal', '\u001b]8;;http://evil.example\u0007here\u001b]8;;\u0007', 'here'],
  ['control characters, and keeps tabs and lines', 'a\u0000b\u0007\tc\r\nd\u009be', 'ab\tc\nde'],
  ['marks that turn the direction of writing', 'a\u202eb\u2066c\u200fd', 'abcd'],
])('takes out %s', (_, given, text) => {
  expect(printedText(given, 1000)).toEqual({ text, left: 0 })
})

it('replaces halves of characters, also one that the cut makes', () => {
  expect(printedText('a\ud83db', 10).text).toBe('a\ufffdb')
  expect(printedText('😀😀', 3)).toEqual({ text: '😀\ufffd', left: 1 })
})

it('cuts a megabyte and says how much is left out', async () => {
  const given = `<b>${'\u001b[31m\u001b]8;;'.repeat(100_000)}`
  expect(given.length).toBeGreaterThan(1_000_000)
  expect(printedText(given, 500).left).toBe(given.length - 500)
  const shown = String(await quoted(given, 'A text'))
  expect(shown.length).toBeLessThan(70_000)
  expect(shown).toContain(`${given.length - 64_000} more characters are not shown`)
  expect(shown).toContain('&lt;b&gt;')
  expect(String(await diffView(`+${'x'.repeat(1_000_000)}`)).length).toBeLessThan(20_000)
})

it('puts a text on one line, with an ellipsis where it was cut', () => {
  expect(printedLine('  a\n\tb  ', 100)).toBe('a b')
  expect(printedLine('abcdef', 3)).toBe('abc…')
  expect(printedEnd('run-20261130-050316-8ba6f4', 13)).toBe('…050316-8ba6f4')
  expect(printedEnd('run-1', 13)).toBe('run-1')
})
