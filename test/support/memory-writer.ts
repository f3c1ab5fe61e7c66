import { writeSync } from 'node:fs'
import { openSqliteBackend } from '../../services/memory-store/sqlite/sqlite-backend.ts'
import { sampleRecord, seededVector } from './memory.ts'

/** Stores records one after the other and says each one's session id once it is stored. */
const [file = '', name = '', count = '0'] = process.argv.slice(2)
const dimensions = 8
const backend = openSqliteBackend({ file, dimensions })
for (let i = 0; i < Number(count); i += 1) {
  const record = sampleRecord({ session_id: `${name}-${i}` })
  const vector = seededVector(i, dimensions)
  await backend.upsert(record, { symptom: vector, fix: vector })
  writeSync(1, `${record.session_id}\n`)
}
await backend.close()
