import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { productRoot } from './config.ts'

/** The version in package.json. */
export function productVersion(): string {
  const packageJson = JSON.parse(readFileSync(join(productRoot, 'package.json'), 'utf8'))
  return z.object({ version: z.string() }).parse(packageJson).version
}
