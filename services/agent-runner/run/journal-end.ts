import { traceEndedRun } from '../../../shared/tracing.ts'
import type { Deps } from '../deps.ts'
import type { Entry } from '../journal/journal.ts'

/** Journals a run's end, once, and closes its trace with it. `text` is what people read. */
export async function journalEnd(
  { journal }: Pick<Deps, 'journal'>,
  runId: string,
  end: Omit<Entry<'end'>, 'at'>,
  text: string,
): Promise<void> {
  const at = new Date().toISOString()
  const { status, reason } = end
  const details = { kind: 'ended', status, reason } as const
  const event = { type: 'ended', text, details } as const
  const isFirst = await journal.append(runId, 'end', { at, ...end }, event)
  if (!isFirst) return
  const { start } = await journal.load(runId)
  const attributes = { 'astra.status': status, 'astra.reason': reason }
  traceEndedRun({ runId, startedAt: start?.request.created_at ?? at, endedAt: at, attributes })
}
