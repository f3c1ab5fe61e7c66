import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { replaceOnce } from '../../services/agent-runner/files/replace-once.ts'

describe('replaceOnce', () => {
  it('replaces the one occurrence and nothing else', () => {
    expect(replaceOnce('a b c', 'b', 'x')).toEqual({ ok: true, text: 'a x c' })
  })

  it('takes replacement text literally, dollar signs included', () => {
    expect(replaceOnce('a b c', 'b', "$& $' $1")).toEqual({ ok: true, text: "a $& $' $1 c" })
  })

  it('says how often and where the text occurs when it is not unique, overlaps included', () => {
    const three = replaceOnce('x = 1\ny\nx = 1\nx = 1\n', 'x = 1', 'y')
    expect(three).toEqual({
      ok: false,
      message: expect.stringMatching(/occurs 3 times, at line 1, 3, 4;[\s\S]*\n1: x = 1\n3: x = 1/),
    })
    expect(replaceOnce('aaa', 'aa', 'b')).toMatchObject({ ok: false, message: /2 times/ })
  })

  it('shows the nearest lines, one for each that was looked for, when the text does not occur', () => {
    const text = 'one\nif (ready) {\n  return value.trim()\n}\ntwo\n}\n'
    const result = replaceOnce(text, 'if (ready) {\n    return value.strip()\n}', 'x')
    expect(result).toEqual({
      ok: false,
      message:
        'old_text occurs 0 times in the file. The nearest lines are:' +
        '\n2: if (ready) {\n3:   return value.trim()\n4: }',
    })
    expect(replaceOnce('one\n', 'zzz', 'x')).toMatchObject({ message: /0 times in the file\.$/ })
  })

  it('names mixed line endings when they may be why the text does not occur', () => {
    expect(replaceOnce('a\r\nb\nc', 'a\nb', 'x')).toMatchObject({ message: /mixes CRLF and LF/ })
  })

  it('answers soon for texts that are made to be slow', () => {
    const long = 'a'.repeat(500_000)
    expect(replaceOnce(long, 'a'.repeat(250_000), 'b')).toMatchObject({ message: /at least 1000/ })
    const lines = '{ a b c d e f\n'.repeat(35_000)
    expect(replaceOnce(lines, '{ a b c d e g\n'.repeat(100), 'b')).toMatchObject({ ok: false })
    expect(replaceOnce('x', 'x', `y${'\n'.repeat(500_000)}`)).toEqual({ ok: true, text: 'y' })
  })

  it('keeps CRLF in a file that has it throughout', () => {
    expect(replaceOnce('a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz')).toEqual({
      ok: true,
      text: 'x\r\ny\r\nz\r\nc\r\n',
    })
  })

  it('changes no line endings in a file that mixes them', () => {
    expect(replaceOnce('a\r\nb\nc', 'b', 'x')).toEqual({ ok: true, text: 'a\r\nx\nc' })
  })

  it.each([
    ['\uFEFFa = 1', 'a = 1', 'a = 2', '\uFEFFa = 2'],
    ['\uFEFFa = 1\n', '\uFEFFa = 1\n', 'a = 2\n', '\uFEFFa = 2\n'],
    ['a = 1\n', 'a = 1\n', '\uFEFFa = 2', 'a = 2\n'],
  ])('keeps a byte order mark or its absence: %j', (text, oldText, newText, expected) => {
    expect(replaceOnce(text, oldText, newText)).toEqual({ ok: true, text: expected })
  })

  it.each([
    ['a\nb\n', 'b\n', 'c', 'a\nc\n'],
    ['a\r\nb\r\n', 'b\n', 'c', 'a\r\nc\r\n'],
    ['a\nb', 'b', 'c\n', 'a\nc'],
    ['a\r\nb', 'b', 'c\nd\n', 'a\r\nc\r\nd'],
    ['a\n', 'a\n', '', ''],
  ])('keeps the final newline or its absence: %j', (text, oldText, newText, expected) => {
    expect(replaceOnce(text, oldText, newText)).toEqual({ ok: true, text: expected })
  })

  it('changes the place that was named and no other byte, for any text', () => {
    const line = fc.constantFrom('a', 'b b', '', '  é', '😀 x', '\tz', '$&', '}')
    const file = fc.record({
      before: fc.array(line, { maxLength: 6 }),
      after: fc.array(line, { maxLength: 6 }),
      ending: fc.constantFrom('\n', '\r\n'),
      bom: fc.constantFrom('', '\uFEFF'),
      final: fc.boolean(),
      replacement: fc.array(line, { minLength: 1, maxLength: 3 }),
    })
    fc.assert(
      fc.property(file, ({ before, after, ending, bom, final, replacement }) => {
        const whole = (place: string[]) =>
          bom + [...before, ...place, ...after, 'end'].join(ending) + (final ? ending : '')
        const oldText = ['one <target>', 'two <target>'].join('\n')
        const text = whole(oldText.split('\n'))
        expect(replaceOnce(text, oldText, replacement.join('\n'))).toEqual({
          ok: true,
          text: whole(replacement),
        })
        expect(replaceOnce(text, `${oldText}!`, 'x')).toMatchObject({ ok: false })
        expect(replaceOnce(text + text, oldText, 'x')).toMatchObject({ message: /2 times/ })
      }),
    )
  })
})
