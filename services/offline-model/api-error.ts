/** An answer that is not a response: HTTP status and the error body of the Responses API. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string | null
  readonly param: string | null

  constructor(
    status: number,
    message: string,
    details: { code?: string; param?: string; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'ApiError'
    this.status = status
    this.code = details.code ?? null
    this.param = details.param ?? null
  }
}

export function errorBody(error: ApiError) {
  const type = error.status >= 500 ? 'server_error' : 'invalid_request_error'
  return { error: { message: error.message, type, param: error.param, code: error.code } }
}
