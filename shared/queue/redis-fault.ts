/** Errors of Redis itself or of the way to it. They say nothing about the job that met them. */
const REFUSALS = /^(OOM|READONLY|LOADING|MISCONF|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\b/
const AWAY = /Connection is closed|Command timed out|Stream isn't writeable/
const CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT'])

/** True for an error that waiting mends: Redis is full, loading, restarting, hung or gone. */
export function isRedisFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'MaxRetriesPerRequestError') return true
  if (error.name === 'ReplyError') return REFUSALS.test(error.message)
  const { code, syscall } = error as NodeJS.ErrnoException
  return AWAY.test(error.message) || (syscall === 'connect' && CODES.has(code ?? ''))
}
