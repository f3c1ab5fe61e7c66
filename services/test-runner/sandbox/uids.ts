/** Debian keeps these for no one; systemd's dynamic users end below. */
export const CACHE_UID = 65_400
const FIRST_UID = CACHE_UID + 1

export type Uids = {
  /** A uid that no other test run of this process has; null where there is none to change to. */
  take(): number | null
  giveBack(uid: number): void
  /** The one that owns what outlives a test run. */
  forCaches(): number | null
}

/** Limits on processes are counted by uid, and one uid could trace its own processes. */
export function createUids(isRoot = process.getuid?.() === 0): Uids {
  const taken = new Set<number>()
  return {
    take() {
      if (!isRoot) return null
      let uid = FIRST_UID
      while (taken.has(uid)) uid += 1
      taken.add(uid)
      return uid
    },
    giveBack: (uid) => {
      taken.delete(uid)
    },
    forCaches: () => (isRoot ? CACHE_UID : null),
  }
}
