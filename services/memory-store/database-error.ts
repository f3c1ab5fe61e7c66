import { AstraError } from '../../shared/errors.ts'

/** The database or collection cannot be used; it was not altered. */
export class MemoryDatabaseError extends AstraError {
  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super('memory_database', message, options)
  }
}
