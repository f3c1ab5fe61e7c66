import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomic } from '../../shared/run-files.ts'
import type { InputItem } from './request-schema.ts'

/** One answered request: what it added to the conversation, and the body that was sent back. */
export type StoredResponse = {
  previous_response_id: string | null
  input: InputItem[]
  output: InputItem[]
  body: Record<string, unknown>
  /** When a background response is done, in milliseconds of Unix time; null for any other. */
  ready_at: number | null
}

const ID = /^resp_[0-9a-f]{44}$/
/** How many more than the limit may gather before the oldest are removed. */
const SLACK = 100

export type ResponsesStore = {
  newId(now: Date): string
  /** null when the id is malformed, unknown, or was removed because of its age. */
  load(id: string): Promise<StoredResponse | null>
  save(id: string, response: StoredResponse): Promise<void>
}

/** Responses on disk, one file each, so that a restarted stand-in still knows its chains. */
export async function openResponsesStore(
  folder: string,
  maxResponses: number,
): Promise<ResponsesStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = (id: string) => join(folder, `${id}.json`)
  let sincePruned = SLACK

  return {
    // The time comes first, so that the order of names is the order of age.
    newId: (now) =>
      `resp_${now.getTime().toString(16).padStart(12, '0')}${randomBytes(16).toString('hex')}`,
    async load(id) {
      if (!ID.test(id)) return null
      try {
        const stored = JSON.parse(await readFile(file(id), 'utf8')) as StoredResponse
        return { ...stored, ready_at: stored.ready_at ?? null }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
    },
    async save(id, response) {
      await writeFileAtomic(file(id), JSON.stringify(response))
      sincePruned += 1
      if (sincePruned < SLACK) return
      sincePruned = 0
      await removeOldest(folder, maxResponses)
    },
  }
}

async function removeOldest(folder: string, keep: number): Promise<void> {
  const names = (await readdir(folder))
    .filter((name) => ID.test(name.replace(/\.json$/, '')))
    .sort()
  const surplus = names.slice(0, Math.max(0, names.length - keep))
  await Promise.all(surplus.map((name) => rm(join(folder, name), { force: true })))
}
