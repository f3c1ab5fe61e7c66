/** What `--fix` can do about a finding. It loses no data, and repeating it is harmless. */
export type Repair = {
  /** Told before it is done. */
  does: string
  /** It changes what is not ours: only with `--yes`. */
  needsConsent: boolean
  run(): Promise<void>
}

/** One thing that an installation needs. */
export type Check = {
  name: string
  result: 'ok' | 'warn' | 'fail'
  /** What was found. Never a secret. */
  found: string
  /** What to do; null when nothing is to be done. */
  advice: string | null
  repair?: Repair
}

export type Finding = Omit<Check, 'name'>
