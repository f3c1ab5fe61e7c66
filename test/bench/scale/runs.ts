import { readRunView } from '../../../shared/contracts/run-view.ts'
import { projects } from '../../chaos/projects.ts'
import { enqueue, type Session, untilQuiet } from '../../chaos/session.ts'

const RUNS = 16
const LIMIT_SECONDS = 300

/** Repairs small projects, all asked for at once. Throws when one was not fixed. */
export async function repairAll(session: Session, round: string): Promise<{ units: number }> {
  const ids = Array.from({ length: RUNS }, (_, n) => `scale-${round}-${n}`)
  for (const [n, id] of ids.entries()) {
    const project = projects[n % projects.length]
    if (project) await enqueue(session, id, project)
  }
  const left = await untilQuiet(session, LIMIT_SECONDS)
  if (left.length > 0) throw new Error(`not done within ${LIMIT_SECONDS} s: ${left.join(', ')}`)
  for (const id of ids) {
    const status = (await readRunView(session.redis, id))?.status
    if (status !== 'fixed') throw new Error(`${id} ended as ${status}`)
  }
  return { units: RUNS }
}
