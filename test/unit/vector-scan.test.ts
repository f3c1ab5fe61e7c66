import { describe, expect, it } from 'vitest'
import { type ScanRow, VectorScan } from '../../services/memory-store/sqlite/scan/vector-scan.ts'
import { dot } from '../../services/memory-store/unit-vector.ts'
import { seededVector } from '../support/memory.ts'

const DIMENSIONS = 384
const anything = { errorKey: null, repository: null, group: null, notBeforeMs: null }

const row = (seed: number, changes: Partial<ScanRow> = {}): ScanRow => ({
  symptom: seededVector(2 * seed + 1, DIMENSIONS),
  fix: seededVector(2 * seed + 2, DIMENSIONS),
  live: true,
  errorKey: 'typeerror',
  repository: '=a',
  group: '',
  confirmedMs: 1_000 * seed,
  ...changes,
})

function filled(count: number, change: (id: number) => Partial<ScanRow> = () => ({})) {
  const scan = new VectorScan(DIMENSIONS)
  const rows = Array.from({ length: count }, (_, id) => row(id, change(id)))
  for (const [id, each] of rows.entries()) scan.set(id, each)
  return { scan, rows }
}

const exactly = (rows: ScanRow[], column: 'symptom' | 'fix', query: Float32Array, limit: number) =>
  rows
    .map((each, id) => ({ id, cosine: dot(each[column], query) }))
    .sort((a, b) => b.cosine - a.cosine)
    .slice(0, limit)
    .map(({ id }) => id)

/** A unit vector between two, nearer to the first one. */
function mixed(one: Float32Array, other: Float32Array, share: number): Float32Array {
  const values = one.map((value, index) => value + share * (other[index] ?? 0))
  const length = Math.hypot(...values)
  return values.map((value) => value / length)
}

describe('VectorScan', () => {
  it('finds the exact nearest of each column among a few more than were asked for', async () => {
    const { scan, rows } = filled(20_000)
    for (const seed of [90_001, 90_002, 90_003]) {
      const query = seededVector(seed, DIMENSIONS)
      const found = await scan.nearest([query], anything, 20)
      for (const column of ['symptom', 'fix'] as const) {
        expect(found[column].length).toBeLessThan(100)
        expect(found[column]).toEqual(expect.arrayContaining(exactly(rows, column, query, 20)))
      }
    }
  })

  it('finds them among many that are nearly the same', async () => {
    const centre = seededVector(1, DIMENSIONS)
    const beside = (seed: number) => mixed(centre, seededVector(seed, DIMENSIONS), 0.15)
    const { scan, rows } = filled(400, (id) => ({ symptom: beside(9_000 + id) }))
    for (let seed = 90_001; seed < 90_040; seed += 1) {
      const query = beside(seed)
      const { symptom } = await scan.nearest([query], anything, 20)
      expect(symptom).toEqual(expect.arrayContaining(exactly(rows, 'symptom', query, 20)))
    }
  })

  it('takes the nearer of several queries', async () => {
    const { scan, rows } = filled(100)
    const queries = [rows[7]?.symptom, rows[9]?.symptom].filter((each) => each !== undefined)
    const { symptom } = await scan.nearest(queries, anything, 2)
    expect(symptom.slice(0, 2).sort()).toEqual([7, 9])
  })

  it('answers with live rows that fit the filter alone', async () => {
    const { scan, rows } = filled(60, (id) => ({
      live: id % 2 === 0,
      errorKey: id % 3 === 0 ? 'keyerror' : 'typeerror',
      repository: id % 5 === 0 ? '=b' : '=a',
    }))
    const query = rows[0]?.symptom ?? new Float32Array()
    const ids = async (filter: object) =>
      (await scan.nearest([query], { ...anything, ...filter }, 60)).symptom.sort((a, b) => a - b)
    const even = Array.from({ length: 30 }, (_, index) => 2 * index)
    expect(await ids({})).toEqual(even)
    expect(await ids({ errorKey: 'keyerror' })).toEqual(even.filter((id) => id % 3 === 0))
    expect(await ids({ repository: '=b' })).toEqual(even.filter((id) => id % 5 === 0))
    expect(await ids({ notBeforeMs: 50_000 })).toEqual(even.filter((id) => id >= 50))
    expect(await ids({ errorKey: 'never seen' })).toEqual([])
  })

  it('forgets a deleted row and uses its place again', async () => {
    const { scan, rows } = filled(3)
    const query = rows[1]?.fix ?? new Float32Array()
    scan.delete(1)
    expect((await scan.nearest([query], anything, 3)).fix.sort()).toEqual([0, 2])
    scan.set(8, row(1))
    expect((await scan.nearest([query], anything, 1)).fix[0]).toBe(8)
    expect(scan.size).toBe(3)
  })

  it('replaces a row that is set again', async () => {
    const { scan, rows } = filled(3)
    scan.set(1, row(50))
    expect(scan.size).toBe(3)
    const gone = await scan.nearest([rows[1]?.symptom ?? new Float32Array()], anything, 1)
    expect(gone.symptom[0]).not.toBe(1)
  })

  it('lets searches take turns without mixing their queries', async () => {
    const { scan, rows } = filled(40_000)
    const wanted = [5, 20_000, 39_999]
    const found = await Promise.all(
      wanted.map((id) => scan.nearest([rows[id]?.symptom ?? new Float32Array()], anything, 1)),
    )
    expect(found.map(({ symptom }) => symptom[0])).toEqual(wanted)
  })
})
