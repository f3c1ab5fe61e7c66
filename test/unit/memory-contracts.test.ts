import { expect, it } from 'vitest'
import { searchPayloadSchema, searchResultSchema } from '../../shared/contracts/memory.ts'
import { memoryRecordSchema } from '../../shared/contracts/record.ts'
import { sampleClaim, sampleEvidence, sampleRecord } from '../support/memory.ts'

const memory_id = sampleRecord().memory_id
const told = { ...sampleClaim, timestamp: '2026-11-01T10:00:00Z', session_id: 'run-1' }

it('still takes a record as it was stored before groups, merges and counters', () => {
  const stored = { memory_id, ...told, ...sampleEvidence, receipt: null }
  const changing = { shown: 0, superseded_by: null, revoked_at: null }
  expect(memoryRecordSchema.parse({ ...stored, ...changing })).toEqual(sampleRecord())
})

it('still takes a search job and its result as they were before relevance', () => {
  const payload = { query: 'q', error_type: null, top_k: 3 }
  expect(searchPayloadSchema.parse(payload)).toEqual(payload)
  const match = { memory_id, score: 0.5, proved: true, ...told }
  expect(searchResultSchema.parse({ matches: [match], searched: 1 })).toEqual({
    matches: [
      {
        ...match,
        relevance: 'similar',
        probability: 0,
        speaks_for: [],
        speaks_against: [],
        touched: null,
        stale: null,
      },
    ],
    error_type_filter: 'none',
    searched: 1,
    withheld: null,
  })
})
