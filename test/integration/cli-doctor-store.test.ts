import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { examineStore } from '../../services/cli/doctor/doctor-store.ts'
import { openDatabase } from '../../services/memory-store/sqlite/open-database.ts'
import { productRoot, readConfig } from '../../shared/config.ts'
import { startQdrantDouble } from '../support/qdrant-double.ts'
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.ts'
import { startVectoraiDouble } from '../support/vectorai-double.ts'

const run = promisify(execFile)
const reason = await noSmallDisk()

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

describe('of the embedded store', () => {
  let home: string
  let file: string
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'astra-doctor-'))
    file = join(home, 'memory', 'memory.db')
  })
  afterEach(() => rmSync(home, { recursive: true, force: true }))

  const examine = () => examineStore(readConfig({ ASTRA_HOME: home }))

  it('says that it is sound, and that it is empty', async () => {
    expect(await examine()).toMatchObject({ found: expect.stringContaining('no records yet') })
    openDatabase(file, 8).close()
    expect(await examine()).toMatchObject({ result: 'ok', found: expect.stringContaining(file) })
  })

  it('says that the file is damaged', async () => {
    mkdirSync(join(home, 'memory'))
    writeFileSync(file, 'SQLite format 3\0, and then nothing of one')
    expect(await examine()).toMatchObject({
      result: 'fail',
      found: expect.stringContaining(file),
      advice: 'put a backup in its place, or move it away',
    })
  })

  const title = 'says that its disk is full, or read-only'
  it.skipIf(reason !== null)(reason === null ? title : `${title} (${reason})`, async () => {
    const disk = await mountSmallDisk(home, 48)
    try {
      const doctor = async () => {
        const [program = '', ...through] = disk.through
        const main = join(productRoot, 'services/cli/main.ts')
        const env = { PATH: process.env.PATH, HOME: home, ASTRA_HOME: home }
        const args = [...through, process.execPath, main, 'doctor', '--json']
        const { stdout } = await run(program, args, { env }).catch((error) => error)
        const { checks } = JSON.parse(stdout)
        return checks.find(({ name }: { name: string }) => name === 'memory')
      }
      expect(await doctor()).toMatchObject({ result: 'ok' })
      await disk.fill()
      expect(await doctor()).toMatchObject({
        result: 'fail',
        found: `0 MB are left on the disk of ${home}`,
        advice: 'make room: what is confirmed waits until then',
      })
      await disk.setWritable(false)
      expect(await doctor()).toMatchObject({
        result: 'fail',
        found: expect.stringContaining(`${home} cannot be written: EROFS`),
      })
    } finally {
      await disk.remove()
    }
  })
})
