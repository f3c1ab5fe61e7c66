import { expect, it } from 'vitest'
import { examineStore } from '../../services/cli/doctor/doctor-store.ts'
import { readConfig } from '../../shared/config.ts'
import { startQdrantDouble } from '../support/qdrant-double.ts'
import { startVectoraiDouble } from '../support/vectorai-double.ts'

it.each([
  ['qdrant', 'Qdrant', 'ASTRA_QDRANT_URL', () => startQdrantDouble({ apiKey: 'a key' })],
  ['vectorai', 'VectorAI DB', 'ASTRA_VECTORAI_URL', () => startVectoraiDouble()],
] as const)('says whether the server of %s answers', async (...given) => {
  const [store, name, variable, start] = given
  const double = await start()
  const { url } = double
  const config = readConfig({ ASTRA_STORE: store, [variable]: `${url}/` })
  expect(await examineStore(config)).toEqual({
    result: 'ok',
    found: `${name} at ${url}`,
    advice: null,
  })
  await double.stop()
  expect(await examineStore(config)).toMatchObject({
    result: 'fail',
    found: expect.stringContaining(`${name} does not answer at ${url}: fetch failed`),
    advice: `is it running, and is ${variable} right?`,
  })
})
