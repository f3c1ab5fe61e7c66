import { DatabaseSync } from 'node:sqlite'
import { load as loadSqliteVec } from 'sqlite-vec'
import { termsOf } from '../../services/memory-store/retrieval/terms.ts'
import { migrations } from '../../services/memory-store/sqlite/migrations.ts'

/**
 * Migrates as `open-database.ts` does, and dies by kill -9 after the step to `until`, with what it has
 * written so far in the log on the disk: `node killed-migration.ts FILE UNTIL DIMENSIONS`.
 */
const [file = '', until = '', dimensions = ''] = process.argv.slice(2)
const db = new DatabaseSync(file, { allowExtension: true })
db.function('index_terms', { deterministic: true }, (text) =>
  typeof text === 'string' ? termsOf(text).join(' ') : '',
)
loadSqliteVec(db)
const version = Number(db.prepare('PRAGMA user_version').get()?.user_version)
// A cache of one page: what a step writes leaves memory at once.
db.exec('PRAGMA cache_size = 1; PRAGMA synchronous = FULL; BEGIN IMMEDIATE')
for (const step of migrations.slice(version, Number(until))) db.exec(step(Number(dimensions)))
db.exec(`PRAGMA user_version = ${until}`)
process.kill(process.pid, 'SIGKILL')
