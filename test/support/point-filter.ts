import { z } from 'zod'
import { DoubleError } from './double-server.ts'

export type PointId = string | number
export type Payload = Record<string, unknown>

const scalar = z.union([z.string(), z.number(), z.boolean()])
const range = z.strictObject({
  gt: z.number().optional(),
  gte: z.number().optional(),
  lt: z.number().optional(),
  lte: z.number().optional(),
})
const match = z.union([
  z.strictObject({ value: scalar }),
  z.strictObject({ any: z.array(scalar) }),
  z.strictObject({ except: z.array(scalar) }),
])
const condition = z.union([
  z.strictObject({ key: z.string(), match }),
  z.strictObject({ key: z.string(), range }),
  z.strictObject({ has_id: z.array(z.union([z.string(), z.number()])) }),
])
type Condition = z.infer<typeof condition>
const conditions = z
  .union([z.array(condition), condition.transform((one) => [one])])
  .nullish()
  .transform((list) => list ?? [])
const filterSchema = z.strictObject({
  must: conditions,
  should: conditions,
  must_not: conditions,
})

export type Predicate = (point: { id: PointId; payload: Payload }) => boolean

/** Whether points fit a filter. One that is not as documented is refused with a 400. */
export function readFilter(filter: unknown): Predicate {
  if (filter === undefined || filter === null) return () => true
  const parsed = filterSchema.safeParse(filter)
  if (!parsed.success) throw new DoubleError(400, `bad filter: ${z.prettifyError(parsed.error)}`)
  const { must, should, must_not } = parsed.data
  return ({ id, payload }) => {
    const holds = (each: Condition) => conditionHolds(each, id, payload)
    const one = should.length === 0 || should.some(holds)
    return one && must.every(holds) && !must_not.some(holds)
  }
}

/** A condition on an array holds when it holds for one of its values, and never without a value. */
function conditionHolds(each: Condition, id: PointId, payload: Payload): boolean {
  if ('has_id' in each) return each.has_id.map(String).includes(String(id))
  const values = [payload[each.key]].flat().filter((value) => value !== undefined && value !== null)
  return values.some((value) =>
    'match' in each ? matches(each.match, value) : inRange(each.range, value),
  )
}

function matches(wanted: z.infer<typeof match>, value: unknown): boolean {
  if ('value' in wanted) return wanted.value === value
  if ('any' in wanted) return wanted.any.some((each) => each === value)
  return !wanted.except.some((each) => each === value)
}

function inRange({ gt, gte, lt, lte }: z.infer<typeof range>, value: unknown): boolean {
  if (typeof value !== 'number') return false
  return (
    (gt === undefined || value > gt) &&
    (gte === undefined || value >= gte) &&
    (lt === undefined || value < lt) &&
    (lte === undefined || value <= lte)
  )
}
