import { join } from 'node:path'

/** The corpus that the weights in services/memory-store/retrieval were fitted on. */
export const corpusFolder = join(import.meta.dirname, 'corpus')
