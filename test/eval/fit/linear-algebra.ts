/** The x of `matrix` x = `right`, by Gaussian elimination with pivoting; for a few unknowns. */
export function solve(matrix: number[][], right: number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i] ?? 0])
  const size = rows.length
  for (let column = 0; column < size; column += 1) {
    let pivot = column
    for (let i = column + 1; i < size; i += 1) {
      if (Math.abs(at(rows, i, column)) > Math.abs(at(rows, pivot, column))) pivot = i
    }
    const chosen = rows[pivot] ?? []
    rows[pivot] = rows[column] ?? []
    rows[column] = chosen
    for (let i = column + 1; i < size; i += 1) {
      const factor = at(rows, i, column) / at(rows, column, column)
      rows[i] = (rows[i] ?? []).map((value, k) => value - factor * (chosen[k] ?? 0))
    }
  }
  const solution = new Array<number>(size).fill(0)
  for (let i = size - 1; i >= 0; i -= 1) {
    const known = solution.reduce(
      (sum, value, k) => (k > i ? sum + at(rows, i, k) * value : sum),
      0,
    )
    solution[i] = (at(rows, i, size) - known) / at(rows, i, i)
  }
  return solution
}

function at(rows: number[][], i: number, k: number): number {
  return rows[i]?.[k] ?? 0
}

export function dotProduct(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}

/** One minimum of a convex function by Newton's method, each step halved until it descends. */
export function minimise(
  start: number[],
  at: (point: number[]) => { loss: number; gradient: number[]; hessian: number[][] },
): number[] {
  let point = start
  let here = at(point)
  for (let round = 0; round < 100; round += 1) {
    const step = solve(here.hessian, here.gradient)
    let size = 1
    let next = point
    let there = here
    do {
      next = point.map((value, i) => value - size * (step[i] ?? 0))
      there = at(next)
      size /= 2
    } while (there.loss > here.loss && size > 1e-9)
    const gain = here.loss - there.loss
    if (!(gain > 0)) return point
    point = next
    here = there
    if (gain < 1e-9) return point
  }
  return point
}
