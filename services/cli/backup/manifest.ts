import { z } from 'zod'
import { sha256Schema } from '../../../shared/contracts/ids.ts'
import { amountsSchema } from '../../../shared/contracts/ledger.ts'

/** The version of the format. A part that an older program could not read makes it a higher one. */
export const BACKUP_FORMAT = 1
export const MANIFEST_NAME = 'manifest.json'
/** The last entry: the sha256 of the manifest, in hex. zstd's own checksum is not looked at by Node. */
export const SEAL_NAME = 'manifest.sha256'

export const STORE_FILE = 'memory/memory.db'
export const STORE_RECORDS = 'memory/records.jsonl'
export const LEDGER_PART = 'state/ledger.json'
export const RUNS_PART = 'state/runs.jsonl'
export const SIGNING_KEY = 'keys/signing.pem'

const RUN = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}'
/** All names that a backup may hold: nothing of it can be written anywhere else. */
const PART_NAME = new RegExp(
  `^(?:${[
    STORE_FILE,
    STORE_RECORDS,
    LEDGER_PART,
    RUNS_PART,
    SIGNING_KEY,
    'keys/trusted/[0-9a-f]{16}\\.(?:json|pem)',
    'ledger/\\d{4}-\\d\\d-\\d\\d\\.jsonl',
    `runs/${RUN}/(?:transcript\\.jsonl|base\\.json|patches/[0-9a-f]{64}\\.json)`,
  ].join('|')})$`,
)

const count = z.number().int().nonnegative()

export const partSchema = z.strictObject({
  name: z.string().regex(PART_NAME, 'is no part of a backup'),
  bytes: count,
  sha256: sha256Schema,
})
export type BackupPart = z.infer<typeof partSchema>

/** The first entry of a backup. The parts follow in this order. */
export const manifestSchema = z.strictObject({
  format: z.literal(BACKUP_FORMAT),
  product_version: z.string(),
  /** The moment of the store's copy. */
  created_at: z.iso.datetime(),
  /** When each was read, in this order: what is later knows all that the earlier ones know of. */
  read_at: z.strictObject({
    runs: z.iso.datetime(),
    store: z.iso.datetime(),
    keys: z.iso.datetime(),
    ledger: z.iso.datetime(),
  }),
  store: z.discriminatedUnion('kind', [
    /** The embedded store's file; `schema` is its `user_version`. */
    z.strictObject({ kind: z.literal('sqlite'), schema: count }),
    /** The records of a server, as `astra memory export --vectors` writes them. */
    z.strictObject({ kind: z.literal('records'), server: z.enum(['qdrant', 'vectorai']) }),
  ]),
  counts: z.strictObject({ records: count, runs: count, trusted_keys: count }),
  signing_key: z.boolean(),
  /** What the projects had booked, in micro-dollars. */
  spent: z.strictObject({ live: amountsSchema, notional: amountsSchema }),
  parts: z.array(partSchema),
})
export type BackupManifest = z.infer<typeof manifestSchema>
