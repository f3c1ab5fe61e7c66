import { extname, join } from 'node:path'
import { productRoot } from './config.ts'

/** A program of ours by its path without an ending: `.ts` in a clone, compiled to `.js` in the package. */
export function programFile(name: string): string {
  return join(productRoot, name + extname(import.meta.filename))
}
