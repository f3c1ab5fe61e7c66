import { z } from 'zod'
import * as entries from './entries.ts'

/**
 * All that is known of a run, read from its journal and inbox. A run is its journal: whatever
 * process has this can go on with the run.
 */
export type Journal = {
  start: z.infer<typeof entries.startEntrySchema> | null
  cancel: z.infer<typeof entries.markEntrySchema> | null
  deadline: z.infer<typeof entries.markEntrySchema> | null
  budget: z.infer<typeof entries.markEntrySchema> | null
  end: z.infer<typeof entries.endEntrySchema> | null
  /** By request number, from 1; then by attempt, from 1. */
  sent: Map<string, z.infer<typeof entries.sentEntrySchema>>
  background: Map<string, z.infer<typeof entries.backgroundEntrySchema>>
  faults: Map<string, z.infer<typeof entries.faultEntrySchema>>
  responses: Map<string, entries.ResponseEntry>
  /** By call id (`call:ID`) or by name of the runner's own work (`system:NAME`). */
  jobs: Map<string, z.infer<typeof entries.jobEntrySchema>>
  outputs: Map<string, z.infer<typeof entries.outputEntrySchema>>
  edits: Map<string, z.infer<typeof entries.editEntrySchema>>
  inbox: Map<string, entries.InboxEntry>
}

const single = {
  start: entries.startEntrySchema,
  cancel: entries.markEntrySchema,
  deadline: entries.markEntrySchema,
  budget: entries.markEntrySchema,
  end: entries.endEntrySchema,
} as const

/** Kinds with a key: the field is `kind/key`. */
const keyed = {
  sent: entries.sentEntrySchema,
  background: entries.backgroundEntrySchema,
  fault: entries.faultEntrySchema,
  response: entries.responseEntrySchema,
  job: entries.jobEntrySchema,
  output: entries.outputEntrySchema,
  edit: entries.editEntrySchema,
} as const

/** Where a journal keeps the entries of each keyed kind. */
const maps = {
  sent: 'sent',
  background: 'background',
  fault: 'faults',
  response: 'responses',
  job: 'jobs',
  output: 'outputs',
  edit: 'edits',
} as const satisfies Record<keyof typeof keyed, keyof Journal>

export type SingleKind = keyof typeof single
export type KeyedKind = keyof typeof keyed
export type Entry<K extends SingleKind | KeyedKind> = K extends SingleKind
  ? z.infer<(typeof single)[K]>
  : K extends KeyedKind
    ? z.infer<(typeof keyed)[K]>
    : never

export const attemptKey = (request: number, attempt: number) => `${request}.${attempt}`
export const callKey = (callId: string) => `call:${callId}`
export const systemKey = (name: string) => `system:${name}`

export function emptyJournal(): Journal {
  return {
    start: null,
    cancel: null,
    deadline: null,
    budget: null,
    end: null,
    sent: new Map(),
    background: new Map(),
    faults: new Map(),
    responses: new Map(),
    jobs: new Map(),
    outputs: new Map(),
    edits: new Map(),
    inbox: new Map(),
  }
}

/** The journal in the fields of its Redis hashes. Throws ZodError when an entry does not fit. */
export function readJournal(
  fields: Record<string, string>,
  inbox: Record<string, string>,
): Journal {
  const journal = emptyJournal()
  for (const [field, text] of Object.entries(fields)) addEntry(journal, field, JSON.parse(text))
  for (const [key, text] of Object.entries(inbox)) {
    journal.inbox.set(key, entries.inboxEntrySchema.parse(JSON.parse(text)))
  }
  return journal
}

/** The entry as it will be read again. Throws ZodError: what could not be read may not be written. */
export function parseEntry(kind: SingleKind | KeyedKind, entry: unknown): unknown {
  const schemas = { ...single, ...keyed }
  return schemas[kind].parse(entry)
}

/** Puts one entry where it belongs; `field` is a single kind or `kind/key`. */
export function addEntry(journal: Journal, field: string, value: unknown): void {
  const slash = field.indexOf('/')
  if (slash < 0) {
    const kind = z.enum(Object.keys(single) as [SingleKind, ...SingleKind[]]).parse(field)
    Object.assign(journal, { [kind]: single[kind].parse(value) })
    return
  }
  const key = field.slice(slash + 1)
  const kind = z
    .enum(Object.keys(keyed) as [KeyedKind, ...KeyedKind[]])
    .parse(field.slice(0, slash))
  const entriesOfKind: Map<string, unknown> = journal[maps[kind]]
  entriesOfKind.set(key, keyed[kind].parse(value))
}
