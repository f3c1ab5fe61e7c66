import { expect, it } from 'vitest'
import { runRequestSchema } from '../../shared/contracts/run.ts'
import { runRequest } from '../support/simulated-run.ts'

it('a request that was queued before there were priorities is one of normal priority', () => {
  const { priority: _, ...before } = runRequest
  expect(runRequestSchema.parse(before)).toEqual({ ...runRequest, priority: 'normal' })
})
