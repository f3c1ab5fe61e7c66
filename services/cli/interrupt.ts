import { AstraError } from '../../shared/errors.ts'

/** npm and its start script pass one Ctrl-C on to us twice or three times within this time. */
const SAME_PRESS_MS = 1000

export const INTERRUPT_EXIT_CODE = 130

/** The person pressed Ctrl-C; `hint` says how to go on. */
export class InterruptError extends AstraError {
  constructor(hint?: string) {
    super('interrupted', 'interrupted', hint === undefined ? {} : { hint })
  }
}

/** Aborts at the first SIGINT or SIGTERM, so that a command can clean up; a later one ends at once. */
export function onInterrupt(): AbortSignal {
  const controller = new AbortController()
  let first = 0
  const stop = () => {
    const now = Date.now()
    if (first === 0) {
      first = now
      controller.abort(new InterruptError())
    } else if (now - first > SAME_PRESS_MS) process.exit(INTERRUPT_EXIT_CODE)
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return controller.signal
}

/** The promise's outcome, or the signal's reason when that comes first. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
