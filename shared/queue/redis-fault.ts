/** Errors of Redis itself or of the way to it. They say nothing about the job that met them. */
const REFUSALS = /^(OOM|READONLY|LOADING|MISCONF|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\b/
const AWAY = /Connection is closed|Command timed out|Stream isn't writeable/
const NOT_REACHED = new Set(['ECONNREFUSED', 'ENOENT', 'ETIMEDOUT'])
const CUT_OFF = new Set(['ECONNRESET', 'EPIPE'])

/** True for an error that waiting mends: Redis is full, loading, restarting, hung or gone. */
export function isRedisFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'MaxRetriesPerRequestError') return true
  if (error.name === 'ReplyError') return REFUSALS.test(error.message)
  const { code, syscall } = error as NodeJS.ErrnoException
  if (AWAY.test(error.message) || CUT_OFF.has(code ?? '')) return true
  return syscall === 'connect' && NOT_REACHED.has(code ?? '')
}
