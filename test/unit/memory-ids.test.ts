import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { productRoot } from '../../shared/config.ts'
import { memoryIdOf } from '../../shared/contracts/ids.ts'

const golden = z
  .array(
    z.object({
      session_id: z.string(),
      fix_description: z.string(),
      error_type: z.string(),
      outcome: z.string(),
      file_paths: z.array(z.string()),
      memory_id: z.uuid(),
    }),
  )
  .min(3)
  .parse(JSON.parse(readFileSync(join(productRoot, 'test/golden/memory-ids.json'), 'utf8')))

it.each(golden)('the id of $session_id is the one that other implementations give', (record) => {
  expect(memoryIdOf(record)).toBe(record.memory_id)
})
