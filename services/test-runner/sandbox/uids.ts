import { createServer, type Server } from 'node:net'
import { UnavailableError } from '../../../shared/errors.ts'

/** Debian keeps these for no one; systemd's dynamic users end below. */
export const CACHE_UID = 65_400
const FOR_TESTS: Range = { first: CACHE_UID + 1, last: 65_499 }

type Range = { first: number; last: number }

export type Uids = {
  /**
   * A uid that no other test run on this machine has; null where there is none to change to. Throws
   * UnavailableError when all are taken.
   */
  take(): Promise<number | null>
  giveBack(uid: number): void
  /** The one that owns what outlives a test run. */
  forCaches(): number | null
}

/** Limits on processes are counted by uid, and one uid could trace its own processes. */
export function createUids(
  isRoot = process.getuid?.() === 0,
  { first, last }: Range = FOR_TESTS,
): Uids {
  const claims = new Map<number, Server>()
  return {
    async take() {
      if (!isRoot) return null
      for (let uid = first; uid <= last; uid += 1) {
        const claim = await claimOf(uid)
        if (!claim) continue
        claims.set(uid, claim)
        return uid
      }
      throw new UnavailableError(`all users for test runs are taken (${first} to ${last})`, {
        hint: 'let fewer test runs go on at once: ASTRA_TEST_CONCURRENCY, `astra up --test-runners`',
      })
    },
    giveBack(uid) {
      claims.get(uid)?.close()
      claims.delete(uid)
    },
    forCaches: () => (isRoot ? CACHE_UID : null),
  }
}

/**
 * What only one process can have, and what its death gives back: a name in the kernel's abstract
 * namespace of sockets. Null when another has it.
 */
function claimOf(uid: number): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null)
      else reject(error)
    })
    server.listen(`\0astra-test-uid-${uid}`, () => {
      server.unref()
      resolve(server)
    })
  })
}
