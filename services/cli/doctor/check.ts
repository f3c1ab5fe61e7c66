/** One thing that an installation needs. */
export type Check = {
  name: string
  result: 'ok' | 'warn' | 'fail'
  /** What was found. Never a secret. */
  found: string
  /** What to do; null when nothing is to be done. */
  advice: string | null
}

export type Finding = Omit<Check, 'name'>
