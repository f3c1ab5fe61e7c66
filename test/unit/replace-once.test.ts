import { describe, expect, it } from 'vitest'
import { replaceOnce } from '../../services/agent-runner/files/replace-once.ts'

describe('replaceOnce', () => {
  it('replaces the one occurrence and nothing else', () => {
    expect(replaceOnce('a b c', 'b', 'x')).toEqual({ ok: true, text: 'a x c' })
  })

  it('takes replacement text literally, dollar signs included', () => {
    expect(replaceOnce('a b c', 'b', "$& $' $1")).toEqual({ ok: true, text: "a $& $' $1 c" })
  })

  it('says how often the text occurs when it is not unique, overlaps included', () => {
    expect(replaceOnce('x x x', 'x', 'y')).toMatchObject({ ok: false, message: /3 times/ })
    expect(replaceOnce('aaa', 'aa', 'b')).toMatchObject({ ok: false, message: /2 times/ })
  })

  it('names the nearest line when the text does not occur', () => {
    const result = replaceOnce('one\nreturn value.trim()\n', 'return value.strip()', 'x')
    expect(result).toMatchObject({
      ok: false,
      message: /nearest line is 2: return value\.trim\(\)/,
    })
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

  it('keeps a byte order mark and a missing final newline', () => {
    expect(replaceOnce('\uFEFFa = 1', 'a = 1', 'a = 2')).toEqual({ ok: true, text: '\uFEFFa = 2' })
  })
})
