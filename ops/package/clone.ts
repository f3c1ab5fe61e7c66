import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { productRoot } from '../../shared/config.ts'

const names = z.record(z.string(), z.string())

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  private: z.literal(true),
  license: z.string(),
  type: z.literal('module'),
  engines: z.object({ node: z.string() }),
  bin: names,
  dependencies: names,
})

const lockSchema = z.looseObject({
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string().optional(),
      license: z.string().optional(),
      dependencies: names.optional(),
    }),
  ),
})

export type Lock = z.infer<typeof lockSchema>

export const cloneManifest = () => manifestSchema.parse(readJson('package.json'))
export const cloneLock = () => lockSchema.parse(readJson('package-lock.json'))

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(productRoot, file), 'utf8'))
}
