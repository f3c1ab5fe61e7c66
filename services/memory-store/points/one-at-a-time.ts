export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Lets work on one key wait for the work on it that came before; other keys go on meanwhile. */
export function oneAtATime(): InTurn {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    const settled = mine.then(
      () => {},
      () => {},
    )
    last.set(key, settled)
    void settled.then(() => {
      if (last.get(key) === settled) last.delete(key)
    })
    return mine
  }
}

/** Work on several keys. They are taken in one order, so that no two wait for each other. */
export function allInTurn<T>(
  inTurn: InTurn,
  keys: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const ordered = [...new Set(keys)].sort()
  return ordered.reduceRight((inner, key) => () => inTurn(key, inner), work)()
}
