import { afterAll, beforeAll, describe } from 'vitest'
import { describeBackend } from '../support/backend-suite.ts'
import type { DoubleServer } from '../support/double-server.ts'
import { openVectoraiStore } from '../support/server-stores.ts'
import { startVectoraiDouble } from '../support/vectorai-double.ts'

describe.each([
  ['objects', false],
  ['JSON strings', true],
])('the vectorai backend, against a server that answers with %s as documented', (_, texts) => {
  let double: DoubleServer
  beforeAll(async () => {
    double = await startVectoraiDouble({ token: 'a token', texts })
  })
  afterAll(() => double.stop())

  describeBackend(() => openVectoraiStore({ url: double.url, token: 'a token' }), {
    countsOfTwo: false,
  })
})

const { VECTORAI_URL, VECTORAI_TOKEN } = process.env

const title = 'the vectorai backend, against the server of VECTORAI_URL'
describe.skipIf(!VECTORAI_URL)(VECTORAI_URL ? title : `${title} (VECTORAI_URL is not set)`, () => {
  const server = { url: VECTORAI_URL ?? '', token: VECTORAI_TOKEN || undefined }
  describeBackend(() => openVectoraiStore(server), { countsOfTwo: false })
})
