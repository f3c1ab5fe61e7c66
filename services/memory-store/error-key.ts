/**
 * What error types are compared by: "TypeError: x is not a function" and " typeerror" are the
 * same. A double colon separates namespaces and stays. Empty when there is no name at all.
 */
export function errorKey(errorType: string): string {
  const [name = ''] = errorType.split(/(?<!:):(?!:)/)
  return name.trim().toLowerCase()
}
