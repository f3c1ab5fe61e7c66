const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** A span of time in its two largest units, as "2 h 5 min"; less than a second is "0 s". */
export function spanText(ms: number): string {
  const span = Math.max(0, ms)
  const at = UNITS.findIndex(([, size]) => span >= size)
  const [first, second] = [UNITS[at] ?? (['s', 1000] as const), at < 0 ? undefined : UNITS[at + 1]]
  const whole = Math.floor(span / first[1])
  const rest = second ? Math.floor((span % first[1]) / second[1]) : 0
  return second && rest > 0 ? `${whole} ${first[0]} ${rest} ${second[0]}` : `${whole} ${first[0]}`
}
