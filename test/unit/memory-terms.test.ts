import { describe, expect, it } from 'vitest'
import { rarestTerms, termsOf } from '../../services/memory-store/retrieval/terms.ts'

describe('termsOf', () => {
  it.each([
    ['fetchUserById', ['fetchuserbyid', 'fetch', 'user', 'by', 'id']],
    ['fetch_user_by_id()', ['fetch_user_by_id', 'fetch', 'user', 'by', 'id']],
    ['self.pool.acquire', ['self.pool.acquire', 'self', 'pool', 'acquire']],
    ['HTTPServerError:', ['httpservererror', 'http', 'server', 'error']],
    ['ERR_HTTP_HEADERS_SENT', ['err_http_headers_sent', 'err', 'http', 'headers', 'sent']],
    ['P2024 TS2345 40P01', ['p2024', 'ts2345', 'ts', '40p01']],
    ['list', ['list']],
    ['status 404.', ['status', '404']],
    ['__init__', ['init']],
    ['serde_json::Error', ['serde_json', 'serde', 'json', 'error']],
    ['naïve Überlauf 修正', ['naïve', 'überlauf', '修正']],
  ])('keeps the identifiers of %s whole and in parts', (text, terms) => {
    expect(termsOf(text)).toEqual(terms)
  })

  it('leaves out single letters, signs and what is too long to be a name', () => {
    expect(termsOf(`x = a + 1; ${'k'.repeat(65)} "" ... __ $`)).toEqual([])
  })
})

describe('rarestTerms', () => {
  const documents: Record<string, number> = { error: 900, pool: 40, loop: 7, pytest: 600 }
  const frequency = (term: string) => documents[term] ?? 0
  const choose = (max: number, total = 1000) =>
    rarestTerms(['error', 'pool', 'unknown', 'loop', 'pool', 'pytest'], { frequency, total, max })

  it('takes the rarest first, each once, and none that no document has', () => {
    expect(choose(2)).toEqual(['loop', 'pool'])
  })

  it('leaves out what most documents have, unless those are few', () => {
    expect(choose(9)).toEqual(['loop', 'pool'])
    expect(rarestTerms(['the'], { frequency: () => 3, total: 3, max: 9 })).toEqual(['the'])
  })
})
