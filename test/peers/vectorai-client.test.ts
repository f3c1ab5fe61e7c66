import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { startVectoraiDouble } from '../support/vectorai-double.ts'
import { pythonWith } from './python.ts'

const run = promisify(execFile)
const wanted = 'actian-vectorai-client==1.0.3'
const { python, skip } = await pythonWith('actian_vectorai', wanted)
const title = "Actian's own client for Python"

/**
 * Our double is only as good as what speaks to it. Where Python has Actian's client, its own REST
 * transport has to work against it.
 */
describe.skipIf(skip !== null)(skip === null ? title : `${title} (${skip})`, () => {
  it('takes the double for a VectorAI DB', async () => {
    const double = await startVectoraiDouble({ token: 'a token' })
    try {
      const script = join(import.meta.dirname, 'vectorai_client.py')
      const { stdout } = await run(String(python), [script, double.url, 'a token'])
      const name = 'a name/with #odd % characters'
      const [one, two] = [
        '6fa459ea-ee8a-3ca4-894e-db77e160355e',
        '16fd2706-8baf-433b-82eb-8c7fada847da',
      ]
      expect(JSON.parse(stdout)).toEqual({
        health: ['title', 'version'],
        before: [[], false],
        created: true,
        created_again: 'CollectionExistsError',
        missing: 'CollectionNotFoundError',
        listed: [name],
        upserted: 'Completed',
        dimensions: 'DimensionMismatchError',
        info: 3,
        found: [
          [one, 1, 1],
          ['7', 0, 3],
        ],
        near: [one],
        batch: [['7']],
        got: [[two, [0, 0.6, 0.8]]],
        count: 2,
        payloads: [
          { error_type: 'KeyError', n: 1, shown: 1 },
          { n: 9 },
          { error_type: 'KeyError' },
        ],
        moved: [one, '7'].sort(),
        strict_delete: 'PointNotFoundError',
        left: 2,
        dropped: true,
        stranger: 'InvalidCredentialsError',
      })
    } finally {
      await double.stop()
    }
  })
})
