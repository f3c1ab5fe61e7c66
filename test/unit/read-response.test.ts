import { describe, expect, it } from 'vitest'
import { readResponse } from '../../services/agent-runner/model/read-response.ts'
import { functionCall, message, searchCall } from '../support/scripted-model.ts'

const none = new Set<string>()
const respond = (output: object[], extra: object = {}) =>
  readResponse({ id: 'resp_1', status: 'completed', output, ...extra }, none)

describe('reading a response', () => {
  it('takes the async mark from the item, and only for the tool that may be answered late', () => {
    const marked = respond([searchCall(), functionCall('run_tests', {}, { async: true })])
    expect(marked.calls.map((call) => call.async)).toEqual([true, false])
    const plain = respond([{ ...searchCall(), async: undefined }])
    expect(plain.calls[0]?.async).toBe(false)
  })

  it('takes a call with status null as completed and one in progress as not', () => {
    const read = respond([
      functionCall('read_file', {}, { status: null }),
      functionCall('read_file', {}, { status: 'in_progress' }),
    ])
    expect(read.calls.map((call) => call.completed)).toEqual([true, false])
  })

  it('names a call without id, a call id that was used before and one used twice', () => {
    const { call_id: _, ...nameless } = functionCall('read_file', {})
    expect(respond([nameless]).invalid).toMatch(/call_id/)
    const twice = functionCall('read_file', {})
    expect(respond([twice, twice]).invalid).toMatch(/used twice/)
    const again = readResponse({ id: 'r', output: [twice] }, new Set([twice.call_id]))
    expect(again.invalid).toMatch(/used twice/)
  })

  it('keeps the items as they came, down to the order of their fields', () => {
    const thought = { summary: [], id: 'rs_1', encrypted_content: 'gAAAA==', type: 'reasoning' }
    const read = respond([thought, message('Done.')])
    expect(JSON.stringify(read.output[0])).toBe(JSON.stringify(thought))
    expect(readResponse({ id: 'r', output: [{ id: 'x' }] }, none).invalid).toMatch(/no type/)
  })

  it('names a server that passed over the response to go on from, and believes one that says nothing', () => {
    const to = (previous: string | null, extra: object) =>
      readResponse({ id: 'r2', output: [message('x')], ...extra }, none, previous).invalid
    expect(to('r1', { previous_response_id: null })).toMatch(/r1.*ASTRA_CHAIN=resend/)
    expect(to('r1', { previous_response_id: 'r1' })).toBeNull()
    expect(to('r1', {})).toBeNull()
    expect(to(null, { previous_response_id: null })).toBeNull()
  })

  it('names an empty output and a body that is no response, without throwing', () => {
    expect(respond([]).invalid).toMatch(/no output/)
    expect(readResponse('<html>', none).invalid).toMatch(/malformed/)
    expect(readResponse({ output: [] }, none).invalid).toMatch(/id/)
  })

  it('joins the text of messages, refusals included, and passes over reasoning', () => {
    const refusal = { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }
    expect(respond([{ type: 'reasoning' }, message('Done.'), refusal]).text).toBe('Done.\nNo.')
  })

  it('takes a response that was cancelled in the background as failed', () => {
    const read = readResponse({ id: 'r', status: 'cancelled', output: [] }, none)
    expect(read).toMatchObject({ status: 'failed', invalid: null })
    expect(read.detail).toMatch(/cancelled/)
  })

  it('keeps the tier that served the request, where a server names one', () => {
    expect(respond([message('x')], { service_tier: 'flex' }).service_tier).toBe('flex')
    expect(respond([message('x')]).service_tier).toBeNull()
    expect(respond([message('x')], { service_tier: 7 })).toMatchObject({
      invalid: null,
      service_tier: null,
    })
  })

  it('reads usage with missing details as zero', () => {
    const read = respond([message('x')], { usage: { input_tokens: 7, output_tokens: 3 } })
    expect(read.usage).toMatchObject({ input_tokens: 7, cached_tokens: 0, output_tokens: 3 })
  })
})
