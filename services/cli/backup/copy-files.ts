import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runFiles } from '../../../shared/run-files.ts'
import { SIGNING_KEY } from './manifest.ts'
import { evidenceFiles } from './read-evidence.ts'

/** Copies a file under its name in the backup; false where there is none. */
async function copy(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  try {
    await copyFile(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

const namesIn = (folder: string) =>
  readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return []
    throw error
  })

/** What `status`, `apply` and `verify` need of an ended run besides Redis, but for its snapshot. */
export async function copyRunFiles(home: string, runId: string, parts: string): Promise<void> {
  const from = runFiles(home, runId)
  const to = runFiles(parts, runId)
  await copy(from.transcript, to.transcript)
  await copy(from.manifest, to.manifest)
  for (const name of await namesIn(from.patches)) {
    if (/^[0-9a-f]{64}\.json$/.test(name))
      await copy(join(from.patches, name), join(to.patches, name))
  }
}

/** The public halves, and with `signing` the key that signs. */
export async function copyKeys(
  home: string,
  parts: string,
  { signing }: { signing: boolean },
): Promise<{ trusted: number; signing: boolean }> {
  const trusted = (await namesIn(join(home, 'keys', 'trusted'))).filter((name) =>
    /^[0-9a-f]{16}\.(json|pem)$/.test(name),
  )
  for (const name of trusted) {
    await copy(join(home, 'keys', 'trusted', name), join(parts, 'keys', 'trusted', name))
  }
  const hasSigning = signing && (await copy(join(home, SIGNING_KEY), join(parts, SIGNING_KEY)))
  return { trusted: trusted.length, signing: hasSigning }
}

/** A line that is being written is left out: the ledger's outbox has it. */
export async function copyEvidence(home: string, parts: string): Promise<void> {
  const [from, to] = [join(home, 'ledger'), join(parts, 'ledger')]
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const name of await evidenceFiles(from)) {
    const bytes = await readFile(join(from, name))
    await writeFile(join(to, name), bytes.subarray(0, bytes.lastIndexOf('\n') + 1), { mode: 0o600 })
  }
}
