import { sha256 } from '../contracts/ids.ts'

/** Both follow from the run's id, so that every process knows them without being told. */
export function runTrace(runId: string): { traceId: string; spanId: string } {
  return {
    traceId: sha256(`trace ${runId}`).slice(0, 32),
    spanId: sha256(`root span ${runId}`).slice(0, 16),
  }
}
