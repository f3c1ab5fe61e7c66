import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { examineSharedFolder } from '../../services/cli/doctor/doctor-shared.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'astra-doctor-'))
})
afterEach(() => rm(folder, { recursive: true }))

const examine = (ASTRA_SHARED_DIR?: string) =>
  examineSharedFolder({ ASTRA_SHARED_DIR, ASTRA_SNAPSHOT_REDIS_MB: 32 })

it('is well with a folder, and with none', async () => {
  expect(await examine(folder)).toMatchObject({ result: 'ok', found: folder })
  expect(await examine()).toMatchObject({ result: 'ok', found: expect.stringContaining('32 MB') })
})

it('fails where the folder is not mounted, or is none', async () => {
  const lost = { result: 'fail', advice: expect.stringContaining('ASTRA_SHARED_DIR') }
  expect(await examine(join(folder, 'unmounted'))).toMatchObject(lost)
  await writeFile(join(folder, 'file'), '')
  expect(await examine(join(folder, 'file'))).toMatchObject(lost)
})
