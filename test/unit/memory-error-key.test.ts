import { describe, expect, it } from 'vitest'
import { errorKey } from '../../services/memory-store/error-key.ts'

describe('error types compare', () => {
  it.each([
    ['TypeError', 'typeerror'],
    ['  TypeError ', 'typeerror'],
    ['TypeError: x is not a function', 'typeerror'],
    ['panic: assignment to entry in nil map', 'panic'],
    ['Error: connect ECONNREFUSED ::1:80', 'error'],
  ])('%j by its name alone', (given, key) => {
    expect(errorKey(given)).toBe(key)
  })

  it('keeps namespaces apart', () => {
    expect(errorKey('ActiveRecord::RecordNotFound: no id 3')).toBe('activerecord::recordnotfound')
  })

  it('gives nothing for a text without a name', () => {
    expect(errorKey(' : gone')).toBe('')
  })
})
