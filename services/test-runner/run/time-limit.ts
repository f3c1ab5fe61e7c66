import type { Config } from '../../../shared/config.ts'

export type TimeLimit = { ms: number; text: string }

/** How much longer than the baseline the tests of an edited tree may take. */
const FACTOR = 10
/** No limit below this: a quick baseline says little about a busy machine. */
const LEAST_MS = 20_000

/**
 * How long a test command may run. An edit that makes the tests hang is told so soon, by what the
 * baseline took; `baselineMs` null: there is no baseline yet.
 */
export function timeLimit(
  config: Pick<Config, 'ASTRA_TEST_SECONDS'>,
  baselineMs: number | null,
): TimeLimit {
  const most = config.ASTRA_TEST_SECONDS * 1000
  const relative = baselineMs === null ? most : Math.max(LEAST_MS, FACTOR * baselineMs)
  if (relative >= most) {
    return { ms: most, text: `${config.ASTRA_TEST_SECONDS} s (ASTRA_TEST_SECONDS)` }
  }
  const took = ((baselineMs ?? 0) / 1000).toFixed(1)
  return {
    ms: relative,
    text: `${Math.round(relative / 1000)} s; before the edits it took ${took} s`,
  }
}
