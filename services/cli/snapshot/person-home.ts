import { homedir, userInfo } from 'node:os'

/**
 * `HOME`, and the home in the system's list of users. In a container that list may not know who we
 * are, and then Node throws.
 */
export function personHomes(): string[] {
  return [homedir, () => userInfo().homedir].flatMap((ask) => {
    try {
      return [ask()]
    } catch {
      return []
    }
  })
}
