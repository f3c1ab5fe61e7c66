import { existsSync } from 'node:fs'
import { appendFile, copyFile, mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SIGNING_KEY } from './manifest.ts'
import { evidenceFiles } from './read-evidence.ts'

/** Evidence of both: what was spent here stays told of, and nothing is told twice. */
export async function mergeEvidence(home: string, ready: string): Promise<void> {
  const [present, restored] = [join(home, 'ledger'), join(ready, 'ledger')]
  await mkdir(restored, { recursive: true, mode: 0o700 })
  for (const name of await evidenceFiles(present)) {
    const target = join(restored, name)
    const known = new Set(existsSync(target) ? linesOf(await readFile(target, 'utf8')) : [])
    const more = linesOf(await readFile(join(present, name), 'utf8')).filter(
      (line) => !known.has(line),
    )
    if (more.length > 0) await appendFile(target, `${more.join('\n')}\n`, { mode: 0o600 })
  }
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

/** A backup without the signing key leaves the one that is here, with its public half. */
export async function mergeKeys(home: string, ready: string): Promise<void> {
  const [present, restored] = [join(home, SIGNING_KEY), join(ready, SIGNING_KEY)]
  if (existsSync(restored) || !existsSync(present)) return
  await mkdir(join(dirname(restored), 'trusted'), { recursive: true, mode: 0o700 })
  const trusted = join(home, 'keys', 'trusted')
  for (const name of await readdir(trusted).catch(() => [])) {
    const target = join(ready, 'keys', 'trusted', name)
    if (!existsSync(target)) await copyFile(join(trusted, name), target)
  }
  await copyFile(present, restored)
}
