import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Config } from '../../../shared/config.ts'
import { STORE_APPLICATION_ID, STORE_SCHEMA } from '../../../shared/contracts/store-schema.ts'
import { UsageError } from '../../../shared/errors.ts'
import { storeProblem } from './copy-store.ts'
import {
  type BackupManifest,
  LEDGER_PART,
  RUNS_PART,
  STORE_FILE,
  STORE_RECORDS,
} from './manifest.ts'

/** Throws UsageError when an unpacked backup is not what this installation can use. */
export function checkBackup(config: Config, manifest: BackupManifest, folder: string): void {
  const { store, parts } = manifest
  const names = new Set(parts.map(({ name }) => name))
  const memory = store.kind === 'sqlite' ? STORE_FILE : STORE_RECORDS
  for (const needed of [LEDGER_PART, RUNS_PART, memory]) {
    if (!names.has(needed)) throw refused(`the backup is damaged: it lists no ${needed}`)
  }
  if (store.kind === 'records') return
  if (config.ASTRA_STORE !== 'sqlite') {
    throw new UsageError(
      `the backup holds an embedded store, and ASTRA_STORE is ${config.ASTRA_STORE}`,
      {
        hint:
          'restore it into another ASTRA_HOME with ASTRA_STORE=sqlite, then move the records with ' +
          '`astra memory export` and `import`',
      },
    )
  }
  if (store.schema > STORE_SCHEMA) {
    throw new UsageError(
      `the backup's memory has schema version ${store.schema}, of Astra ` +
        `${manifest.product_version}, and this program knows up to ${STORE_SCHEMA}`,
      { hint: 'nothing was changed; update the program' },
    )
  }
  checkStore(join(folder, STORE_FILE), manifest, store.schema)
}

const refused = (message: string) =>
  new UsageError(message, { hint: 'nothing was changed; use another backup' })

function checkStore(file: string, { counts }: BackupManifest, schema: number): void {
  const problem = storeProblem(file)
  if (problem !== null) throw refused(`the backup's memory is damaged: ${problem}`)
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const numberOf = (sql: string) => Number(Object.values(db.prepare(sql).get() ?? {})[0])
    const isAsListed =
      numberOf('PRAGMA application_id') === STORE_APPLICATION_ID &&
      numberOf('PRAGMA user_version') === schema &&
      numberOf('SELECT count(*) FROM memories') === counts.records
    if (!isAsListed) throw refused("the backup's memory is not the one that its manifest tells of")
  } finally {
    db.close()
  }
}
