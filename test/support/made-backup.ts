import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createJournalStore } from '../../services/agent-runner/journal/journal-store.ts'
import { hashFile } from '../../services/cli/backup/hash-file.ts'
import type { BackupManifest } from '../../services/cli/backup/manifest.ts'
import { readArchive } from '../../services/cli/backup/read-archive.ts'
import { takeBackup } from '../../services/cli/backup/take-backup.ts'
import { writeArchive } from '../../services/cli/backup/write-archive.ts'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { readConfig } from '../../shared/config.ts'
import { DIMENSIONS } from '../../shared/contracts/vector.ts'
import { loadSigningKey } from '../../shared/keys/signing-key.ts'
import { connectOrFail } from '../../shared/queue/connection.ts'
import { createProducer } from '../../shared/queue/producer.ts'
import { runFiles, saveTranscript } from '../../shared/run-files.ts'
import { openLedger } from './ledger.ts'
import { sampleReceipt, sampleRecord, seededVector } from './memory.ts'
import { startRedis } from './redis.ts'
import { sampleView } from './run-view.ts'
import { startService } from './service-process.ts'

const never = new AbortController().signal
export const limits = { project: 10_000, day: 10_000, run: 10_000 }

/**
 * A backup of an installation with three proved records, one of them revoked, two ended runs, and a
 * live ledger: run-1 has settled 300 micro-dollars, run-2 has sent a request of 200.
 */
export async function makeBackup(file: string): Promise<BackupManifest> {
  const home = await mkdtemp(join(tmpdir(), 'astra-backed-up-'))
  const redis = await startRedis(join(home, 'run', 'redis.sock'))
  const connection = connectOrFail(redis.address)
  const producer = createProducer(connection)
  try {
    await fillStore(home)
    const ledger = openLedger(connection, home)
    await ledger.hold('run-1', '1.1', 500, limits)
    await ledger.sent('run-1', '1.1')
    await ledger.settle('run-1', '1.1', 300)
    await ledger.hold('run-2', '1.1', 200, limits)
    await ledger.sent('run-2', '1.1')
    const journals = createJournalStore(connection)
    for (const [run_id, status] of [
      ['run-1', 'fixed'],
      ['run-2', 'running'],
      ['run-3', 'cancelled'],
    ] as const) {
      await journals.publish({ ...sampleView({ status }), run_id })
      await saveTranscript(runFiles(home, run_id), `${run_id}\n`)
    }
    const service = await startService('memory-store', home)
    try {
      const services = {
        config: readConfig({ ASTRA_HOME: home }),
        redis: connection,
        blobs: null,
        producer,
        interrupted: never,
      }
      return await takeBackup(services, { file, signingKey: true }, () => {})
    } finally {
      await service.end('SIGTERM')
    }
  } finally {
    await producer.close()
    connection.disconnect()
    await redis.stop()
    await rm(home, { recursive: true, force: true })
  }
}

async function fillStore(home: string): Promise<void> {
  const key = loadSigningKey(home)
  const store = openSqliteBackend({
    file: join(home, 'memory', 'memory.db'),
    dimensions: DIMENSIONS,
  })
  for (const n of [1, 2, 3]) {
    const session_id = `run-${n}`
    const receipt = sampleReceipt(key, { run_id: session_id })
    const record = sampleRecord({ session_id, receipt, shown: n })
    const [symptom, fix] = [seededVector(2 * n, DIMENSIONS), seededVector(2 * n + 1, DIMENSIONS)]
    await store.upsert(record, { symptom, fix })
  }
  await store.setRevoked({ session_id: 'run-3' }, '2026-11-02T00:00:00Z')
  await store.close()
}

/** The same backup with other contents, and a manifest that is right about them. */
export async function repack(
  file: string,
  target: string,
  change: (folder: string, manifest: BackupManifest) => Promise<Partial<BackupManifest>>,
): Promise<void> {
  const folder = await mkdtemp(join(dirname(target), 'repack-'))
  const { manifest } = await readArchive(file, folder, never)
  const changed = { ...manifest, ...(await change(folder, manifest)) }
  const parts: BackupManifest['parts'] = []
  for (const { name } of changed.parts) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    parts.push({
      name: relative(folder, join(folder, name)),
      ...(await hashFile(join(folder, name))),
    })
  }
  await writeArchive(target, { manifest: { ...changed, parts }, parts: folder, interrupted: never })
  await rm(folder, { recursive: true })
}
