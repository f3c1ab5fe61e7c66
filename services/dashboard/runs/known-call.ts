/** A call from where it was asked for to where its output reached the model. */
export type KnownCall = {
  tool: string
  async: boolean
  /** The numbers of requests: in whose answer it was asked for, and which one carried its output. */
  asked: number
  delivered: number | null
  /** Events that are about it. */
  rows: string[]
}
