import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { productRoot } from '../../shared/config.ts'

const folder = join(productRoot, 'test/fixtures/store-versions')

/** The schemas of which earlier programs left a memory: see its README. */
export const oldSchemas = [1, 2, 3, 4, 5, 6] as const

/** Puts a memory of that schema, and the keys of all of them, into `home`; returns its file. */
export function placeOldStore(home: string, schema: number): string {
  const trusted = join(home, 'keys', 'trusted')
  mkdirSync(trusted, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder).filter((each) => /^[0-9a-f]{16}\./.test(each))) {
    copyFileSync(join(folder, name), join(trusted, name))
  }
  mkdirSync(join(home, 'memory'), { recursive: true, mode: 0o700 })
  const file = join(home, 'memory', 'memory.db')
  writeFileSync(file, zstdDecompressSync(readFileSync(join(folder, `v${schema}.db.zst`))))
  return file
}
