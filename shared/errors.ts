/**
 * Faults that a person or a model can act on. `code` is stable and machine-readable; `message`
 * says what was wrong and `hint`, when there is one, what to do about it.
 */
export class AstraError extends Error {
  readonly code: string
  readonly hint: string | undefined

  constructor(code: string, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.hint = options.hint
  }
}

/** A setting is missing or out of range; names the variable and what is allowed. */
export class ConfigError extends AstraError {
  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super('config', message, options)
  }
}

/** The person's input cannot be used; nothing was changed. */
export class UsageError extends AstraError {
  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super('usage', message, options)
  }
}

/** Something this process depends on did not answer in time or is not there. */
export class UnavailableError extends AstraError {
  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super('unavailable', message, options)
  }
}

/** An edit, a store or a final answer came before a memory search output was delivered. */
export class MemoryGateError extends AstraError {
  constructor(message: string) {
    super('memory_gate', message)
  }
}

/** A store did not carry the outcome of the latest passing test run, word for word. */
export class ConfirmedFixGateError extends AstraError {
  constructor(message: string) {
    super('confirmed_fix_gate', message)
  }
}

/** A record reached the memory-store without a receipt that proves its outcome. */
export class UnconfirmedOutcomeError extends AstraError {
  constructor(message: string) {
    super('unconfirmed_outcome', message)
  }
}

/** A memory record has a field of the wrong kind; names the field. */
export class MemoryValidationError extends AstraError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('memory_validation', message, options)
  }
}

/** The text of any thrown value, with what to do about it and its causes, on one line. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const hint = error instanceof AstraError && error.hint ? `; ${error.hint}` : ''
  const cause = error.cause === undefined ? '' : ` (cause: ${errorText(error.cause)})`
  return `${error.message}${hint}${cause}`
}
