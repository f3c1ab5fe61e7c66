import { expect, it } from 'vitest'
import type { TranscriptLine } from '../../services/cli/read-transcript.ts'
import { recallFacts } from '../../services/cli/recall-facts.ts'

const request = (n: number, previous: string | null): TranscriptLine => ({
  type: 'request',
  n,
  previous_response_id: previous,
})
const calls = (n: number, ...names: string[]): TranscriptLine => ({
  type: 'response',
  n,
  output: names.map((name) => ({ type: 'function_call', name })),
})
const message = (n: number): TranscriptLine => ({
  type: 'response',
  n,
  output: [{ type: 'message' }],
})
const found = (n: number): TranscriptLine => ({
  type: 'output',
  tool: 'search_codebase_memory',
  request: n,
  output:
    'Match 1 (score=0.6150)\nFix: Trim each entry\nError type: AssertionError\nFiles: a.ts\n' +
    'Outcome: node passed with exit code 0\nConfirmed: 2026-11-29T10:00:00Z\nSession: s1',
})

it('sees a search output that came before every read, edit and final answer', () => {
  const lines = [
    request(1, null),
    calls(1, 'search_codebase_memory', 'list_project_files'),
    request(2, 'resp_1'),
    found(2),
    calls(2, 'read_file'),
    request(3, 'resp_2'),
    calls(3, 'apply_edit'),
    request(4, 'resp_3'),
    message(4),
  ]
  expect(recallFacts(lines)).toEqual({
    new_chain: true,
    delivered_in: 2,
    match: { score: 0.615, fix: 'Trim each entry', session: 's1' },
    first_read: 2,
    first_edit: 3,
    first_final: 4,
    before_everything: true,
  })
})

it.each(['read_file', 'search_project_files', 'apply_edit'])(
  'sees that %s came before the search output',
  (tool) => {
    const lines = [
      request(1, null),
      calls(1, 'search_codebase_memory', tool),
      request(2, 'resp_1'),
      found(2),
      message(2),
    ]
    expect(recallFacts(lines).before_everything).toBe(false)
  },
)

it('takes a message beside calls for a remark, not for a final answer', () => {
  const remark: TranscriptLine = {
    type: 'response',
    n: 1,
    output: [{ type: 'message' }, { type: 'function_call', name: 'search_codebase_memory' }],
  }
  const lines = [request(1, null), remark, request(2, 'resp_1'), found(2), message(2)]
  expect(recallFacts(lines)).toMatchObject({ first_final: 2, before_everything: true })
})

it('claims nothing when no search output was delivered', () => {
  expect(recallFacts([request(1, 'resp_0'), message(1)])).toMatchObject({
    new_chain: false,
    delivered_in: null,
    match: null,
    before_everything: false,
  })
})

it('has no match when the search found none', () => {
  const none: TranscriptLine = {
    type: 'output',
    tool: 'search_codebase_memory',
    request: 2,
    output: 'No relevant confirmed fixes found.',
  }
  expect(recallFacts([request(1, null), none, message(2)])).toMatchObject({
    delivered_in: 2,
    match: null,
    before_everything: true,
  })
})
