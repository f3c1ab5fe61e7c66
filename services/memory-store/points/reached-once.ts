/** Does `work` before the first call that needs it, and again before the next one when it failed. */
export function reachedOnce(work: () => Promise<void>): () => Promise<void> {
  let reached: Promise<void> | undefined
  return () => {
    reached ??= work().catch((error) => {
      reached = undefined
      throw error
    })
    return reached
  }
}
