import { dotProduct, minimise } from './linear-algebra.ts'

export type Row = { x: number[]; right: boolean; weight: number }

/**
 * Logistic regression with an L2 penalty on the weights of standardised columns, so that none is
 * favoured for its unit. Weights are returned in the units of the rows.
 */
export function fitLogistic(
  rows: readonly Row[],
  penalty: number,
): { bias: number; weights: number[] } {
  const scales = columnScales(rows.map(({ x }) => x))
  const data = rows.map((row) => ({ ...row, z: [1, ...standardised(row.x, scales)] }))
  const size = scales.length + 1
  const penalties = [0, ...scales.map(() => penalty)]
  const fitted = minimise(new Array<number>(size).fill(0), (point) => {
    let loss = 0
    const gradient = point.map((value, i) => (penalties[i] ?? 0) * value)
    const hessian = penalties.map((value, i) => penalties.map((_, k) => (i === k ? value : 0)))
    for (const [i, value] of point.entries()) loss += ((penalties[i] ?? 0) * value * value) / 2
    for (const { z, right, weight } of data) {
      const odds = dotProduct(z, point)
      const p = 1 / (1 + Math.exp(-odds))
      loss +=
        weight * (Math.log1p(Math.exp(-Math.abs(odds))) + Math.max(odds, 0) - (right ? odds : 0))
      addOuter(gradient, hessian, z, {
        slope: weight * (p - (right ? 1 : 0)),
        curve: weight * p * (1 - p),
      })
    }
    return { loss, gradient, hessian }
  })
  return inUnits(fitted, scales)
}

/**
 * Weights by which the right item of each list scores above the others (a conditional logit): the
 * loss is the surprise at the right one, so a list's own level does not matter.
 */
export function fitListwise(lists: readonly Row[][], penalty: number): number[] {
  const scales = columnScales(lists.flat().map(({ x }) => x))
  const data = lists.map((list) => list.map((row) => ({ ...row, z: standardised(row.x, scales) })))
  const fitted = minimise(new Array<number>(scales.length).fill(0), (point) => {
    let loss = (penalty * dotProduct(point, point)) / 2
    const gradient = point.map((value) => penalty * value)
    const hessian = point.map((_, i) => point.map((__, k) => (i === k ? penalty : 0)))
    for (const list of data) loss += addSurprise(list, point, gradient, hessian)
    return { loss, gradient, hessian }
  })
  return inUnits([0, ...fitted], scales).weights
}

/** The surprise at the right items of one list; adds its slope and curvature. */
function addSurprise(
  list: readonly { z: number[]; right: boolean }[],
  point: readonly number[],
  gradient: number[],
  hessian: number[][],
): number {
  const scores = list.map(({ z }) => dotProduct(z, point))
  const top = Math.max(...scores)
  const total = scores.reduce((sum, score) => sum + Math.exp(score - top), 0)
  const share = 1 / list.filter(({ right }) => right).length
  const mean = new Array<number>(point.length).fill(0)
  let surprise = 0
  for (const [i, { z, right }] of list.entries()) {
    const p = Math.exp((scores[i] ?? 0) - top) / total
    if (right) surprise += share * (top + Math.log(total) - (scores[i] ?? 0))
    for (const [k, value] of z.entries()) mean[k] = (mean[k] ?? 0) + p * value
    addOuter(gradient, hessian, z, { slope: p - (right ? share : 0), curve: p })
  }
  addOuter([], hessian, mean, { slope: 0, curve: -1 })
  return surprise
}

type Scale = { mean: number; deviation: number }

function columnScales(rows: readonly number[][]): Scale[] {
  return (rows[0] ?? []).map((_, column) => {
    const values = rows.map((row) => row[column] ?? 0)
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
    return { mean, deviation: Math.sqrt(variance) || 1 }
  })
}

function standardised(x: readonly number[], scales: readonly Scale[]): number[] {
  return scales.map(({ mean, deviation }, i) => ((x[i] ?? 0) - mean) / deviation)
}

function inUnits([bias = 0, ...fitted]: number[], scales: readonly Scale[]) {
  const weights = scales.map(({ deviation }, i) => (fitted[i] ?? 0) / deviation)
  const shift = scales.reduce((sum, { mean }, i) => sum + mean * (weights[i] ?? 0), 0)
  return { bias: bias - shift, weights }
}

function addOuter(
  gradient: number[],
  hessian: number[][],
  z: readonly number[],
  { slope, curve }: { slope: number; curve: number },
): void {
  for (const [i, value] of z.entries()) {
    if (slope !== 0) gradient[i] = (gradient[i] ?? 0) + slope * value
    const row = hessian[i] ?? []
    for (const [k, other] of z.entries()) row[k] = (row[k] ?? 0) + curve * value * other
  }
}
